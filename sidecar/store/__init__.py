"""What is kept on disk: the journal, cassettes, suites, and where they lie."""
