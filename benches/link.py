"""Emulates a slow or lossy link between two network namespaces, for systems without a network emulator.

    python3 benches/link.py NAMESPACE ADDRESS NAMESPACE ADDRESS [delay=SECONDS] [loss=SHARE] [rate=BITS]

Creates an interface in each, prints 'ready', and carries packets between them until it is ended. Needs root.
"""

import ctypes
import fcntl
import heapq
import os
import random
import select
import signal
import struct
import subprocess
import sys
import time

TUNSETIFF, IFF_TUN, IFF_NO_PI, CLONE_NEWNET = 0x400454CA, 0x1, 0x1000, 0x40000000

libc = ctypes.CDLL(None, use_errno=True)


def end_of(namespace, address):
    """Creates an interface in a namespace; returns a file descriptor to read and write its packets."""
    with open(f"/var/run/netns/{namespace}") as there:
        if libc.setns(there.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"namespace {namespace} cannot be entered")
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22s", b"yomikiri", IFF_TUN | IFF_NO_PI, b""))
    for words in (["addr", "add", f"{address}/24", "dev", "yomikiri"], ["link", "set", "dev", "yomikiri", "up", "txqueuelen", "1000"]):
        subprocess.run(["ip", *words], check=True)
    return tun


options = dict(option.split("=") for option in sys.argv[5:])
delay, loss, rate = (float(options.get(name, 0)) for name in ("delay", "loss", "rate"))
ends = [end_of(*sys.argv[1:3]), end_of(*sys.argv[3:5])]
chance = random.Random(1)
# Waiting packets by time, order, destination and content; and the time when each direction is free again.
waiting, number, free, lost, carried = [], 0, [0.0, 0.0], 0, 0
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
print("ready", flush=True)
try:
    while True:
        wait = max(0, waiting[0][0] - time.monotonic()) if waiting else None
        for tun in select.select(ends, [], [], wait)[0]:
            came = ends.index(tun)
            for _ in range(64):
                try:
                    packet = os.read(tun, 65536)
                except BlockingIOError:
                    break
                if chance.random() < loss:
                    lost += 1
                    continue
                now = time.monotonic()
                if rate:
                    free[came] = max(free[came], now) + 8 * len(packet) / rate
                    now = free[came]
                number += 1
                heapq.heappush(waiting, (now + delay, number, ends[1 - came], packet))
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, to, packet = heapq.heappop(waiting)
            carried += 1
            try:
                os.write(to, packet)
            except BlockingIOError:
                lost += 1
finally:
    print(f"{carried} packets carried, {lost} lost", file=sys.stderr)
