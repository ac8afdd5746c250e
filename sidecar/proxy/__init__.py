"""One server behind the sidecar: the processes and streams around recorder and replayer."""
