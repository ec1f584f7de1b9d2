"""Relaxes a temperature field with CuPy, which compiles its kernels at run time. Prints the change of the last step.

steps: 200
"""
import cupy

SIDE = 512


def main():
    field = cupy.zeros((SIDE, SIDE), dtype=cupy.float32)
    field[0, :] = 1
    for _ in range(200):
        new = field.copy()
        new[1:-1, 1:-1] = (field[:-2, 1:-1] + field[2:, 1:-1] + field[1:-1, :-2] + field[1:-1, 2:]) / 4
        change = float(cupy.abs(new - field).max())
        field = new
    print(f"change {change:.6f}")


if __name__ == "__main__":
    main()
