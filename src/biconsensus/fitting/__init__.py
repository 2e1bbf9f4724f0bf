"""The third front: elements, many sampled models, those that the elements agree on."""
