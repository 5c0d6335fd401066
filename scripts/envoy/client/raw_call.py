"""One gRPC call over HTTP/2 with header fields and bytes that a gRPC library would not send."""

import socket

import h2.config
import h2.connection
import h2.events


def raw_call(address, body, fields=None):
    """Returns all header fields and trailers of the answer. Without a body, the request never ends."""
    host, port = address.rsplit(":", 1)
    head = {
        ":method": "POST",
        ":scheme": "http",
        ":path": "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit",
        ":authority": address,
        "content-type": "application/grpc",
        "te": "trailers",
        **(fields or {}),
    }
    with socket.create_connection((host, int(port)), timeout=10) as link:
        config = h2.config.H2Configuration(header_encoding="utf-8", validate_outbound_headers=False)
        connection = h2.connection.H2Connection(config)
        connection.initiate_connection()
        stream = connection.get_next_available_stream_id()
        connection.send_headers(stream, list(head.items()), end_stream=body == b"")
        if body:
            connection.send_data(stream, body, end_stream=True)
        link.sendall(connection.data_to_send())
        return _answer(link, connection)


def _answer(link, connection):
    found = {}
    while data := link.recv(65_536):
        for event in connection.receive_data(data):
            if isinstance(event, (h2.events.ResponseReceived, h2.events.TrailersReceived)):
                found.update(event.headers)
            if isinstance(event, h2.events.StreamReset):
                found["reset"] = str(int(event.error_code))
            if isinstance(event, (h2.events.StreamEnded, h2.events.StreamReset)):
                return found
        link.sendall(connection.data_to_send())
    return found
