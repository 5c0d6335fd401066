"""envoyproxy/ratelimit as a process, on a Redis of its own."""

import contextlib
import os
import socket
import subprocess
import tempfile
import time
import urllib.request

import grpc

COMMAND = os.environ.get("ENVOY_TEST_ORIGINAL")
REDIS = os.environ.get("ENVOY_TEST_REDIS", "")


def free_ports(count):
    with contextlib.ExitStack() as opened:
        sockets = [opened.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


class Original:
    """The running original. It ends with its `with` block. `stops_counting`: denied requests do not count."""

    def __init__(self, files, stops_counting):
        self._folder = tempfile.TemporaryDirectory(prefix="original-")
        config = os.path.join(self._folder.name, "ratelimit", "config")
        os.makedirs(config)
        for name, text in files.items():
            with open(os.path.join(config, name), "w", encoding="utf-8") as file:
                file.write(text)
        http, port, debug, self._metrics = free_ports(4)
        self._log = open(os.path.join(self._folder.name, "log"), "w+", encoding="utf-8")
        settings = {
            "HOST": "127.0.0.1",
            "PORT": http,
            "GRPC_HOST": "127.0.0.1",
            "GRPC_PORT": port,
            "DEBUG_HOST": "127.0.0.1",
            "DEBUG_PORT": debug,
            "USE_STATSD": "false",
            "USE_PROMETHEUS": "true",
            "STATS_FLUSH_INTERVAL": "50ms",
            "PROMETHEUS_ADDR": f"127.0.0.1:{self._metrics}",
            "REDIS_SOCKET_TYPE": "tcp",
            "REDIS_URL": REDIS.removeprefix("redis://"),
            "CACHE_KEY_PREFIX": f"original-{os.getpid()}-{port}-",
            "RUNTIME_ROOT": self._folder.name,
            "RUNTIME_SUBDIRECTORY": "ratelimit",
            "RUNTIME_WATCH_ROOT": "false",
            "EXPIRATION_JITTER_MAX_SECONDS": "0",
            "STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT": str(stops_counting).lower(),
        }
        environment = {**os.environ, **{name: str(value) for name, value in settings.items()}}
        self.process = subprocess.Popen([COMMAND], stdout=self._log, stderr=self._log, env=environment)
        self.channel = grpc.insecure_channel(f"127.0.0.1:{port}")
        try:
            grpc.channel_ready_future(self.channel).result(timeout=20)
        except grpc.FutureTimeoutError:
            self._log.seek(0)
            text = self._log.read()
            self.close()
            raise AssertionError(f"envoyproxy/ratelimit does not start: {text[-2_000:]}") from None

    def metrics(self):
        """Its Prometheus text. It counts behind an answer, so this asks until two texts are alike."""
        last = None
        for _ in range(50):
            with urllib.request.urlopen(f"http://127.0.0.1:{self._metrics}/metrics", timeout=10) as answer:
                text = answer.read().decode()
            rates = [line for line in text.splitlines() if line.startswith("ratelimit_service_rate_limit")]
            if rates and rates == last:
                return rates
            last = rates
            time.sleep(0.2)
        raise AssertionError("the counters of envoyproxy/ratelimit do not come to rest")

    def close(self):
        self.channel.close()
        self.process.terminate()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._log.close()
        self._folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
