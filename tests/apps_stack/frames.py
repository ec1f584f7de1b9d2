# Compares the frames that the recorder reads with those that Python reports, for every kind of code.
#   python frames.py LIBRARY SPOOL     prints what differs, then "N stacks compared"
import asyncio
import ctypes
import gc
import sys
import threading

library = ctypes.CDLL(sys.argv[1])  # calls its functions without the GIL
holding = ctypes.PyDLL(sys.argv[1])
for loaded in (library, holding):
    loaded.probe_start.restype = loaded.probe_take.restype = ctypes.c_char_p
compared = 0


def told(depth=256):
    frame, lines = sys._getframe(1), []
    while frame is not None and len(lines) < depth:
        code = frame.f_code
        name = code.co_qualname if hasattr(code, "co_qualname") else code.co_name
        lines.append("%s(%d): %s" % (code.co_filename, frame.f_lineno, name))
        frame = frame.f_back
    return lines


def same(seen, expected):
    global compared
    compared += 1
    seen = seen.decode().split("\n")
    if seen != expected:
        print("seen    ", seen)
        print("expected", expected)


refusal = library.probe_start(sys.argv[2].encode(), 1, 0, 256).decode()
if refusal:
    print(refusal)
    sys.exit(3)
seen = library.probe_take
seen_holding = holding.probe_take


class Outer:
    class Inner:
        def method(self):
            same(seen(), told())
            same(seen_holding(), told())
            return self

        @property
        def value(self):
            same(seen(), told())
            return 1

        def __add__(self, other):
            same(seen(), told())
            return other

        def __del__(self):
            same(seen(), told())


def recurse(n):
    if n > 0:
        return recurse(n - 1)
    same(seen(), told())


def generator(n):
    for i in range(n):
        same(seen(), told())
        yield i


def delegating(n):
    yield from generator(n)


async def inner():
    await asyncio.sleep(0)
    same(seen(), told())


async def outer():
    await inner()
    await asyncio.gather(inner(), inner())


def größe_名():
    same(seen(), told())


def many_lines():
    x = 1
    for i in range(3):
        x += (
            i
            + 1
        )
        same(
            *(seen(), told())
        )
    try:
        raise ValueError
    except ValueError:
        same(seen(), told())
    finally:
        same(seen(), told())
    with open("/dev/null"):
        same(seen(), told())


def long_function():
    lines = ["def big():"] + ["    x = %d" % i for i in range(1000)] + [""] * 1000 + ["    same(seen(), told())"]
    scope = {"same": same, "seen": seen, "told": told}
    exec(compile("\n".join(lines), "<big>", "exec"), scope)
    scope["big"]()


def code_that_dies(n):
    # Names and lengths are equal, so that Python puts each function at the previous one's address.
    for i in range(n):
        scope = {"same": same, "seen": seen, "told": told}
        exec(compile("\n" * (i % 7) + "def f():\n same(seen(), told())\nf()", "<made %04d>" % i, "exec"), scope)
        del scope
        if i % 50 == 0:
            gc.collect()


def in_a_thread():
    recurse(3)
    list(generator(2))


def main():
    inside = Outer.Inner()
    inside.method().value
    inside + 1
    del inside
    recurse(0)
    recurse(100)
    list(generator(3))
    list(delegating(3))
    [recurse(1) for _ in range(2)]
    (lambda: same(seen(), told()))()
    sorted([3, 1, 2], key=lambda x: same(seen(), told()) or x)
    list(map(lambda x: same(seen(), told()), [1]))
    asyncio.run(outer())
    größe_名()
    many_lines()
    long_function()
    code_that_dies(500)
    threads = [threading.Thread(target=in_a_thread) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    exec(compile("same(seen(), told())", "ünïcode.py", "exec"))
    exec(compile("same(seen(), told())", "\u65e5\u672c.py", "exec"))
    exec(compile("same(seen(), told())", "\U0001f600.py", "exec"))
    library.probe_start(b"", 1, 0, 2)
    same(seen(), told(2))


main()
print(compared, "stacks compared")
