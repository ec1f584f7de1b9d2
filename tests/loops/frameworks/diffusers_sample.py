"""Samples two images with the DDPMPipeline of Diffusers and a tiny UNet in 40 denoising steps.

steps: 40
"""
import torch
from diffusers import DDPMPipeline, DDPMScheduler, UNet2DModel


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    unet = UNet2DModel(sample_size=16, in_channels=3, out_channels=3, layers_per_block=2, norm_num_groups=8,
                       block_out_channels=(16, 32), down_block_types=("DownBlock2D", "AttnDownBlock2D"),
                       up_block_types=("AttnUpBlock2D", "UpBlock2D"))
    pipeline = DDPMPipeline(unet=unet, scheduler=DDPMScheduler(num_train_timesteps=1000))
    images = pipeline(batch_size=2, generator=torch.Generator().manual_seed(0), num_inference_steps=40).images
    steps = len(pipeline.scheduler.timesteps)
    print("steps:", steps)
    assert len(images) == 2 and steps == 40


if __name__ == "__main__":
    main()
