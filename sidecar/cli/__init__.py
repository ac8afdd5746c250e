"""The verbs: the one place that wires rooms together."""
