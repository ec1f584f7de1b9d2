# Compares the modules that the recorder reads with those whose forward() is on the stack.
#   python modules.py LIBRARY SPOOL     prints what differs, then "N stacks compared"
import ctypes
import sys

library = ctypes.CDLL(sys.argv[1])  # calls its functions without the GIL
library.probe_start.restype = library.probe_modules.restype = ctypes.c_char_p
compared = 0


def same(expected):
    global compared
    compared += 1
    seen = library.probe_modules().decode()
    if seen != expected:
        print("seen    ", seen)
        print("expected", expected)


class Module:
    def __init__(self, *children):
        self.children = children

    def __call__(self, *arguments):
        return self.forward(*arguments)

    def forward(self, expected):
        same(expected)


class Sequential(Module):
    def forward(self, expected):
        for child in self.children:
            child(expected)


class Linear(Module):
    pass


class Mixin:
    pass


class Mixed(Mixin, Module):
    pass


class Closing(Module):
    """Its inner function uses `self`, which is then in a cell (Python 3.10 keeps no argument in this case)."""

    def forward(self, expected):
        [same(expected if self else "") for _ in range(2)]
        (lambda: same(expected if self else ""))()


class Plain:
    """No module."""

    def forward(self, expected):
        same(expected)


class Static(Module):
    @staticmethod
    def forward(expected):
        same(expected)


class Variadic(Module):
    def forward(*arguments):
        same(arguments[1])


class Forgetful(Module):
    def forward(self, expected):
        del self
        same(expected)


class Größe(Module):
    pass


class Recursive(Module):
    def forward(self, n, expected):
        if n > 0:
            return self(n - 1, expected)
        same(expected)


def forward(anything, expected):
    same(expected)


def main():
    refusal = library.probe_start(sys.argv[2].encode(), 1, 0, 4).decode()
    if refusal:
        print(refusal)
        sys.exit(3)
    same("")
    Linear()("Linear")
    Sequential(Linear(), Linear())("Sequential.Linear")
    Sequential(Sequential(Mixed()))("Sequential.Sequential.Mixed")
    Closing()("" if sys.version_info < (3, 11) else "Closing")
    Sequential(Plain().forward)("Sequential")
    Static()("")
    Variadic()("")
    Forgetful()("")
    Größe()("Größe")
    for argument in (3, 1 << 70, None, "text", 2.5, (), Module, Linear):
        forward(argument, "")
    forward(Linear(), "Linear")  # a function that is a forward(), too
    Recursive()(40, ".".join(["Recursive"] * 41))
    Recursive()(200, ".".join(["Recursive"] * 64))
    print(compared, "stacks compared")


main()
