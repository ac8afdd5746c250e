"""Grades: a pure function of a suite and an event log, with a reason for every verdict."""
