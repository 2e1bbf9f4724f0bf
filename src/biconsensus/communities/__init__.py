"""The second front: a network, many community detections, one consensus."""
