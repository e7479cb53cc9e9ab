"""Train a Keras network on JAX with autologging, and load what it has stored."""

import json
import os

os.environ["KERAS_BACKEND"] = "jax"

import keras
import mlflow
from sklearn.datasets import load_digits

mlflow.keras.autolog()
mlflow.set_experiment("keras")
images, labels = load_digits(return_X_y=True)
network = keras.Sequential(
    [keras.Input((64,)), keras.layers.Dense(32, "relu"), keras.layers.Dense(10, "softmax")]
)
network.compile("adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
with mlflow.start_run() as run:
    network.fit(images / 16, labels, epochs=4, batch_size=64, validation_split=0.2, verbose=0)
loaded = mlflow.keras.load_model(f"runs:/{run.info.run_id}/model")
assert (loaded.predict(images, verbose=0) == network.predict(images, verbose=0)).all()
print(json.dumps({"run": run.info.run_id}))
