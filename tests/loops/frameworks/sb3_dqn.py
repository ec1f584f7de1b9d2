"""Trains DQN of Stable-Baselines3 in a trivial Gymnasium environment: each iteration is four actions and an update.

steps: 50
"""
import gymnasium as gym
import numpy as np
import torch
from stable_baselines3 import DQN


class GoLeft(gym.Env):
    action_space = gym.spaces.Discrete(2)
    observation_space = gym.spaces.Box(0, 10, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.position, self.count = 9, 0
        return np.array([self.position], np.float32), {}

    def step(self, action):
        self.position = int(np.clip(self.position + (1 if action == 1 else -1), 0, 10))
        self.count += 1
        done = self.position == 0
        return np.array([self.position], np.float32), float(done), done, self.count >= 30, {}


def main():
    torch.set_num_threads(1)
    model = DQN("MlpPolicy", GoLeft(), learning_starts=100, train_freq=4, gradient_steps=1, batch_size=32,
                target_update_interval=40, seed=0, verbose=0, device="cpu")
    model.learn(total_timesteps=300)
    steps = model._n_updates
    print("steps:", steps)
    assert steps == 50


if __name__ == "__main__":
    main()
