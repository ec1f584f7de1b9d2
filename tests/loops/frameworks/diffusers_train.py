"""Trains a tiny unconditional diffusion model as the tutorial of Diffusers does, with Accelerate.

steps: 20
"""
import torch
import torch.nn.functional as F
from accelerate import Accelerator
from diffusers import DDPMScheduler, UNet2DModel
from diffusers.optimization import get_cosine_schedule_with_warmup
from torch.utils.data import DataLoader


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = UNet2DModel(sample_size=16, in_channels=3, out_channels=3, layers_per_block=1, norm_num_groups=8,
                        block_out_channels=(16, 32), down_block_types=("DownBlock2D", "AttnDownBlock2D"),
                        up_block_types=("AttnUpBlock2D", "UpBlock2D"))
    noise_scheduler = DDPMScheduler(num_train_timesteps=1000)
    dataset = [{"images": torch.rand(3, 16, 16) * 2 - 1} for _ in range(80)]
    train_dataloader = DataLoader(dataset, batch_size=8, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    lr_scheduler = get_cosine_schedule_with_warmup(optimizer, num_warmup_steps=4, num_training_steps=20)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=1)
    model, optimizer, train_dataloader, lr_scheduler = accelerator.prepare(
        model, optimizer, train_dataloader, lr_scheduler)
    global_step = 0
    for epoch in range(2):
        for batch in train_dataloader:
            clean_images = batch["images"]
            noise = torch.randn(clean_images.shape)
            timesteps = torch.randint(0, noise_scheduler.config.num_train_timesteps, (clean_images.shape[0],))
            noisy_images = noise_scheduler.add_noise(clean_images, noise, timesteps)
            with accelerator.accumulate(model):
                noise_pred = model(noisy_images, timesteps, return_dict=False)[0]
                loss = F.mse_loss(noise_pred, noise)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                lr_scheduler.step()
                optimizer.zero_grad()
            global_step += 1
    print("steps:", global_step)
    assert global_step == 20


if __name__ == "__main__":
    main()
