"""A listening socket: accept, serve each connection, stop on request.

Called by `server.serve`. With `server.transport`, the only code that touches a socket.
Source: Kafka's Acceptor and EndPoint.
"""

import errno
import socket

import trio

from wirekafka.broker import Broker, ListenerConfig
from wirekafka.handlers import ADVERTISED, ClientConnection, Endpoint
from wirekafka.observability import get_logger
from wirekafka.server.connection import serve_connection
from wirekafka.server.transport import SocketTransport

logger = get_logger("server")

_BACKLOG = 4096
"""How many may wait to be accepted, if the system lets them. Who finds no room tries a second later."""
_ACCEPTED_AT_ONCE = 16
"""So many are accepted before others get their turn."""
_PAUSE_WITHOUT_DESCRIPTORS_S = 0.1
_OUT_OF_DESCRIPTORS = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Listener:
    """One address that clients connect to."""

    def __init__(self, config: ListenerConfig, broker: Broker) -> None:
        self.config = config
        self._broker = broker
        self._socket = _bind(config)
        self._open: set[SocketTransport] = set()
        self._out_of_descriptors = False
        self._max_request_bytes = broker.settings.get_int("socket.request.max.bytes")

    @property
    def port(self) -> int:
        """The port bound to: the system's choice where the config says 0."""
        port: int = self._socket.getsockname()[1]
        return port

    async def run(self) -> None:
        """Accept and serve until cancelled, or until `drain` has run and the last peer has gone."""
        async with trio.open_nursery() as nursery:
            while True:
                try:
                    for _ in range(_ACCEPTED_AT_ONCE):
                        self._accept(nursery)
                except BlockingIOError:
                    try:
                        await trio.lowlevel.wait_readable(self._socket)
                    except trio.ClosedResourceError:
                        return
                except OSError as error:
                    if self._socket.fileno() < 0:
                        return
                    await self._pause(error)
                else:
                    await trio.lowlevel.checkpoint()

    def _accept(self, nursery: trio.Nursery) -> None:
        """Take the next peer that waits and have it served. Raises BlockingIOError if none does, OSError."""
        sock, address = self._socket.accept()
        self._say_that_it_is_over()
        transport = SocketTransport(sock)
        self._open.add(transport)
        nursery.start_soon(self._serve, transport, sock, address)

    def drain(self) -> None:
        """Accept no more; let every connection finish the requests it has sent."""
        self.close()
        for transport in self._open:
            transport.stop_receiving()

    def close(self) -> None:
        """Accept no more; once closed, do nothing."""
        if self._socket.fileno() >= 0:
            trio.lowlevel.notify_closing(self._socket)
            self._socket.close()

    async def _serve(self, transport: SocketTransport, sock: socket.socket, address: tuple[str, int]) -> None:
        try:
            client = self._client(sock, address)
            await serve_connection(transport, client, self._max_request_bytes)
        except OSError as error:  # the peer went before it was served
            logger.debug("lost %s: %s", address[0], error)
            transport.close()
        finally:
            self._open.discard(transport)

    def _client(self, sock: socket.socket, address: tuple[str, int]) -> ClientConnection:
        """Make the socket ready, and say who is at its other end."""
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        host = _plain(address[0])
        return ClientConnection(
            broker=self._broker,
            peer=f"{host}:{address[1]}",
            client_host=f"/{host}",
            endpoint=self._endpoint_for(sock),
            advertised=ADVERTISED,
        )

    def _endpoint_for(self, sock: socket.socket) -> Endpoint:
        """What this peer is told to connect to: what was advertised, or the address it reached."""
        if self.config.advertised is not None:
            return Endpoint(*self.config.advertised)
        host, port = sock.getsockname()[:2]
        return Endpoint(_plain(host), port)

    async def _pause(self, error: OSError) -> None:
        """Out of descriptors: wait a little instead of spinning. A peer that has gone: go on."""
        if error.errno not in _OUT_OF_DESCRIPTORS:
            logger.debug("accept on %s: %s", self.config, error)
            await trio.lowlevel.checkpoint()
            return
        if not self._out_of_descriptors:
            self._out_of_descriptors = True
            logger.error("cannot accept on %s: %s; raise the limit (ulimit -n)", self.config, error.strerror)
        await trio.sleep(_PAUSE_WITHOUT_DESCRIPTORS_S)

    def _say_that_it_is_over(self) -> None:
        if self._out_of_descriptors:
            self._out_of_descriptors = False
            logger.info("can accept on %s again", self.config)


def _bind(config: ListenerConfig) -> socket.socket:
    """Bind to the first address of the host that takes it."""
    infos = socket.getaddrinfo(
        config.host or None, config.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    if not config.host:  # every interface: one IPv6 socket takes IPv4 too, where there is IPv6
        infos.sort(key=lambda info: info[0] != socket.AF_INET6)
    failure: OSError | None = None
    for family, kind, protocol, _, address in infos:
        try:
            return _bound(family, kind, protocol, address)
        except OSError as error:
            failure = error
    raise OSError(
        failure.errno if failure else errno.EADDRNOTAVAIL,
        f"cannot listen on {config.host or '*'}:{config.port}: {failure}",
    )


def _bound(family: int, kind: int, protocol: int, address: object) -> socket.socket:
    sock = socket.socket(family, kind, protocol)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        sock.bind(address)  # type: ignore[arg-type]
        sock.listen(_BACKLOG)
        sock.setblocking(False)
    except OSError:
        sock.close()
        raise
    return sock


def _plain(host: str) -> str:
    """An address without scope, and an IPv4 peer of an IPv6 socket as IPv4."""
    return host.partition("%")[0].removeprefix("::ffff:")
