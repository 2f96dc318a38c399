"""The programs of voice packs: sherpa-onnx in processes of their own, which import nothing of the rest of Offhook."""
