"""Calls of many kinds between two barriers; each iteration makes the same calls.

usage: calls.py REFERENCE [profile | fork | threads]

Writes the calls below work() to REFERENCE as sys.setprofile() sees them, as JSON: {"caller > name": count}. With
`profile` the job has a profile function of its own all the time; with `fork` children run work(), too.
"""
import asyncio
import collections
import ctypes
import json
import os
import re
import sys
import threading

library = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)
mpi = ctypes.CDLL(None)
world = ctypes.byref(ctypes.c_char.in_dll(library, "ompi_mpi_comm_world"))
HERE = os.path.dirname(os.path.abspath(__file__)) + "/"


class Shape:
    def __init__(self, sides):
        self.sides = sides

    @property
    def area(self):
        return self.sides * 2

    @classmethod
    def square(cls):
        return cls(4)

    @staticmethod
    def count(values):
        return len(values)

    def __add__(self, other):
        return Shape(self.sides + other.sides)


class Both:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return True


def numbers(n):
    for i in range(n):
        yield i
    return


def nested(n):
    yield from numbers(n)


def fails():
    raise KeyError("x")


def recurse(depth):
    return recurse(depth - 1) if depth else depth


async def waits():
    await asyncio.sleep(0)
    return 1


def drive(coroutine):
    try:
        while True:
            coroutine.send(None)
    except StopIteration:
        pass


def exceptions():
    try:
        fails()
    except KeyError:
        pass
    try:
        int("x")
    except ValueError:
        pass
    with Both():
        fails()
    thrown = numbers(3)
    next(thrown)
    try:
        thrown.throw(RuntimeError())
    except RuntimeError:
        pass
    closed = numbers(3)
    next(closed)
    closed.close()


def built_ins():
    values = [3, 1, 2]
    values.append(4)
    values.sort(key=lambda value: -value)
    list.append(values, 5)
    text = "a".join(["b", "c"])
    print(end="")
    return sorted(values), max(values, key=abs), text.upper(), dict(a=1).get("a"), list(map(recurse, [1, 2]))


def objects():
    shape = Shape(3) + Shape.square()
    other = [Shape(i).area for i in range(2)]
    return shape.area, Shape.count(other), *(x for x in other)


def work():
    recurse(30)
    exceptions()
    built_ins()
    objects()
    for _ in nested(3):
        pass
    drive(waits())


class Reference:
    """Counts calls as CPython reports them to a profile function."""

    def __init__(self):
        self.counts = collections.Counter()

    def __call__(self, frame, event, argument):
        if event == "call":
            back = frame.f_back
            self.add(back, self.name(frame))
        elif event == "c_call":
            self.add(frame, re.sub(" at 0x[0-9a-f]+", "", repr(argument)))

    def add(self, caller, name):
        self.counts[f"{self.place(caller)} > {name}"] += 1

    @staticmethod
    def file(frame):
        name = frame.f_code.co_filename
        folders = sorted((os.path.abspath(p) + "/" for p in sys.path), reverse=True)
        return next((name[len(p):] for p in folders if name.startswith(p)), name)

    def place(self, frame):
        return f"{self.file(frame)}:{frame.f_lineno}"

    def name(self, frame):
        return f"{self.file(frame)}({frame.f_lineno}): {frame.f_code.co_name}"

    def write(self, path):
        own = {name: n for name, n in self.counts.items() if "setprofile" not in name}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(own, file)


def in_thread():
    threads = [threading.Thread(target=recurse, args=(5,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def in_child():
    child = os.fork()
    if child == 0:
        work()
        os._exit(7)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 7:
        sys.exit("a child was harmed")


def main():
    kind = sys.argv[2] if len(sys.argv) > 2 else ""
    own_calls = []
    if kind == "profile":
        sys.setprofile(lambda frame, event, argument: own_calls.append(event))
    mpi.MPI_Init(None, None)
    for _ in range(8):
        mpi.MPI_Barrier(world)
        work()
        if kind == "threads":
            in_thread()
        if kind == "fork":
            in_child()
    mpi.MPI_Barrier(world)
    if kind == "profile":
        if sys.getprofile() is None or own_calls.count("call") < 8 * 50:
            sys.exit("the job's profile function is gone")
        sys.setprofile(None)
    reference = Reference()
    sys.setprofile(reference)
    work()
    sys.setprofile(None)
    reference.write(sys.argv[1])
    mpi.MPI_Finalize()


main()
