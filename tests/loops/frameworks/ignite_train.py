"""Trains a small classifier with the engines of PyTorch-Ignite, with an evaluation after each epoch.

steps: 40
"""
import torch
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.metrics import Accuracy, Loss
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def images(count):
    return TensorDataset(torch.rand(count, 1, 16, 16), torch.randint(0, 10, (count,)))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train_loader = DataLoader(images(320), batch_size=32, shuffle=True)
    val_loader = DataLoader(images(128), batch_size=32)
    model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.ReLU(), nn.Flatten(),
                          nn.Linear(8 * 144, 10))
    optimizer = torch.optim.RMSprop(model.parameters(), lr=0.001)
    criterion = nn.CrossEntropyLoss()
    trainer = create_supervised_trainer(model, optimizer, criterion)
    evaluator = create_supervised_evaluator(model, {"accuracy": Accuracy(), "loss": Loss(criterion)})

    @trainer.on(Events.ITERATION_COMPLETED(every=5))
    def log_training_loss(engine):
        print(f"Epoch[{engine.state.epoch}], Iter[{engine.state.iteration}] Loss: {engine.state.output:.2f}")

    @trainer.on(Events.EPOCH_COMPLETED)
    def log_validation_results(engine):
        evaluator.run(val_loader)
        print(f"Epoch[{engine.state.epoch}] accuracy: {evaluator.state.metrics['accuracy']:.2f}")

    trainer.run(train_loader, max_epochs=4)
    print("steps:", trainer.state.iteration)
    assert trainer.state.iteration == 40


if __name__ == "__main__":
    main()
