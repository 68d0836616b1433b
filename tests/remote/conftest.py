"""An S3 server (moto's) at the loopback interface."""

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from tests.cluster.support import require

BUCKET = "data"


@pytest.fixture(scope="session")
def server():
    """Start the server; return its address. It has one bucket."""
    require("s3fs", "moto")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(address, timeout=5).close()
                break
            time.sleep(0.05)
        yield address
    finally:
        process.terminate()
        process.wait()


@pytest.fixture
def store(server, monkeypatch):
    """Return s3fs's file system, for whose server the environment is set; the bucket is empty."""
    import s3fs

    for name in [name for name in os.environ if name.startswith(("AWS_", "FSSPEC_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ENDPOINT_URL", server)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "very-secret-key")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    store = s3fs.S3FileSystem(endpoint_url=server, key="testing", secret="very-secret-key", skip_instance_cache=True)
    if store.exists(BUCKET):
        store.rm(BUCKET, recursive=True)
    store.mkdir(BUCKET)
    return store
