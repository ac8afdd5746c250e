"""AgentEvalSuite, EvalSummary, run events and capability documents, as frozen models."""
