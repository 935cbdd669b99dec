"""Runs a command in a terminal of some columns and prints what it shows: python3 terminal.py COLUMNS COMMAND…"""

import fcntl
import os
import pty
import struct
import sys
import termios

columns, *command = sys.argv[1:]
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, int(columns), 0, 0))
    os.execvp(command[0], command)
shown = b""
while True:
    try:
        part = os.read(terminal, 1 << 16)
    except OSError:
        break
    if not part:
        break
    shown += part
_, status = os.waitpid(child, 0)
sys.stdout.buffer.write(shown.replace(b"\r\n", b"\n"))
sys.exit(os.waitstatus_to_exitcode(status))
