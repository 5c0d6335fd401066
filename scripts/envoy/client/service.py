"""`sluice serve` as a process: starts it on free ports and says where it listens."""

import json
import os
import queue
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

import grpc

NODE = os.environ["ENVOY_TEST_NODE"]
COMMAND = os.environ["ENVOY_TEST_COMMAND"]
LONGEST_START_S = 20


class Service:
    """A running service. It ends with its `with` block."""

    def __init__(self, *args, files=None, environment=None):
        self._folder = tempfile.TemporaryDirectory(prefix="sluice-envoy-")
        self.folder = self._folder.name
        for name, text in (files or {}).items():
            self.write(name, text)
        if files is not None:
            args = ("--envoy-config", self.folder, *args)
        command = [NODE, COMMAND, "serve", "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0", "--log", "json", *args]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
        )
        self.log = []
        self._lines = queue.Queue()
        self._errors = []
        threading.Thread(target=self._read_log, daemon=True).start()
        self._error_reader = threading.Thread(target=lambda: self._errors.extend(self.process.stderr), daemon=True)
        self._error_reader.start()
        try:
            started = self.says("the service listens")
        except AssertionError:
            self.close()
            raise
        self.http = started["url"]
        self.address = started["grpc"].split("://")[1]
        self.channel = grpc.insecure_channel(self.address)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def says(self, message, longest_s=LONGEST_START_S):
        """The next line of the log with this message."""
        until = time.monotonic() + longest_s
        while True:
            try:
                line = self._lines.get(timeout=max(0.01, until - time.monotonic()))
            except queue.Empty:
                line = None
            if line is None:
                self._error_reader.join(1)
                raise AssertionError(f"the service does not say '{message}': {self.log} {''.join(self._errors)}")
            if line.get("msg") == message:
                return line

    def get(self, path, body=None):
        """The status and the text of an answer over HTTP. With a body it is a POST."""
        data = body if body is None or isinstance(body, bytes) else body.encode()
        try:
            with urllib.request.urlopen(urllib.request.Request(self.http + path, data=data), timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def close(self):
        if hasattr(self, "channel"):
            self.channel.close()
        self.process.terminate()
        try:
            self.process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _read_log(self):
        for text in self.process.stdout:
            try:
                line = json.loads(text)
            except ValueError:
                continue
            self.log.append(line)
            self._lines.put(line)
        self._lines.put(None)


def run_sluice(*args):
    """Runs a command of the program to its end: the exit code, and what it prints."""
    done = subprocess.run([NODE, COMMAND, *args], capture_output=True, text=True, timeout=30)
    return done.returncode, done.stdout + done.stderr
