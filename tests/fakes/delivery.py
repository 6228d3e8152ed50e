"""Bring a reply to the client, well or badly."""

import asyncio
import socket
import struct

from tests.fakes.exchange import Drip, Reply, Request
from tests.fakes.http_connection import response_head
from tests.fakes.wires import encode_reply

_RESET_LINGER = struct.pack("ii", 1, 0)
_PAUSE_BEFORE_RESET_SECONDS = 0.02


async def deliver(transport: asyncio.Transport, request: Request, reply: Reply) -> None:
    """Send a reply in full, slowly, in half, or not at all."""
    if reply.hang:
        await asyncio.Event().wait()
    body = encode_reply(request, reply)
    head = response_head(reply.status, reply.content_type, len(body), reply.headers)
    if reply.reset:
        await _send_half(transport, head, body)
    elif reply.drip is not None:
        transport.write(head)
        await _send_slowly(transport, body, reply.drip)
    else:
        transport.write(head + body)


async def _send_slowly(transport: asyncio.Transport, body: bytes, drip: Drip) -> None:
    for start in range(0, len(body), drip.chunk_bytes):
        transport.write(body[start : start + drip.chunk_bytes])
        await asyncio.sleep(drip.seconds)


async def _send_half(transport: asyncio.Transport, head: bytes, body: bytes) -> None:
    transport.write(head + body[: len(body) // 2])
    await asyncio.sleep(_PAUSE_BEFORE_RESET_SECONDS)
    peer: socket.socket = transport.get_extra_info("socket")
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_LINGER)
    transport.abort()
