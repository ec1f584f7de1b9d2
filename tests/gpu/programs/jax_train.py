"""Trains a small network with JAX. A step is one call of a compiled function. Prints its loss.

steps: 60
"""
import jax
import jax.numpy as jnp


def loss_of(parameters, inputs, targets):
    hidden = inputs
    for weights in parameters[:-1]:
        hidden = jnp.tanh(hidden @ weights)
    return jnp.mean((hidden @ parameters[-1] - targets) ** 2)


@jax.jit
def update(parameters, inputs, targets):
    loss, gradients = jax.value_and_grad(loss_of)(parameters, inputs, targets)
    return [weights - 0.05 * gradient for weights, gradient in zip(parameters, gradients)], loss


def main():
    keys = jax.random.split(jax.random.PRNGKey(0), 6)
    parameters = [jax.random.normal(key, (256, 256)) / 16 for key in keys[:4]]
    inputs = jax.random.normal(keys[4], (512, 256))
    targets = jax.random.normal(keys[5], (512, 256))
    for _ in range(60):
        parameters, loss = update(parameters, inputs, targets)
        loss.block_until_ready()
    print(f"{jax.devices()[0].platform} loss {float(loss):.3f}")


if __name__ == "__main__":
    main()
