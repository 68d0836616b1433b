"""A SLURM of one node: munged, slurmctld and slurmd as children of this process, with all their files in a folder."""

from __future__ import annotations

import contextlib
import ctypes
import getpass
import os
import shutil
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

PACKAGES = "slurm-wlm munge"  # of Debian and its descendants
_DAEMONS = ("munged", "slurmctld", "slurmd")
_COMMANDS = ("sbatch", "srun", "squeue", "scontrol", "scancel", "sinfo", "sacct", "sacctmgr", "sstat")
_PATH = ("/usr/local/sbin", "/usr/sbin", "/sbin")  # of daemons, beside PATH
_SUBREAPER, _DEATH_SIGNAL = 36, 1  # of prctl()
_CONFIGURATION = """\
ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=15
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
MailProg=/bin/true
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
JobRequeue=1
MinJobAge=3600
KillWait=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=short Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Unavailable(Exception):
    """This machine has no SLURM, or it does not start."""


def _program(name: str) -> str | None:
    return shutil.which(name, path=":".join([os.environ.get("PATH", ""), *_PATH]))


def missing() -> list[str]:
    """Return the programs of SLURM and MUNGE that this machine does not have."""
    return [name for name in (*_DAEMONS, *_COMMANDS[:5]) if not _program(name)]


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def _call_prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _end_with_parent() -> None:
    """Let the kernel end this process when its parent ends, however that happens."""
    _call_prctl(_DEATH_SIGNAL, signal.SIGTERM)


class Node:
    """The node; see running().

    Attributes:
        environment: environment of commands that use it.
    """

    def __init__(self, folder: Path, cpus: int) -> None:
        """Take an empty folder, and the number of CPUs that the node claims to have."""
        self.folder, self._cpus = folder, cpus
        self._children: list[subprocess.Popen[bytes]] = []
        path = f"{folder / 'bin'}:{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": path, "SLURM_CONF": str(folder / "slurm.conf")}

    def start(self) -> None:
        """Start the daemons, and wait until the node is idle. Raises Unavailable."""
        _call_prctl(_SUBREAPER, 1)  # what a daemon leaves becomes a child of this process, which stop() ends
        self._write_files()
        socket_, log = self.folder / "munge.socket", self.folder / "munged.log"
        files = [f"--{name}-file={self.folder / name}" for name in ("key", "pid", "seed", "log")]
        self._spawn("munged", "--foreground", "--force", f"--socket={socket_}", *files)
        self._wait("munged", socket_.exists, log)
        configuration = str(self.folder / "slurm.conf")
        self._spawn("slurmctld", "-D", "-f", configuration)
        self._wait(
            "slurmctld", lambda: self.command("scontrol", "ping").returncode == 0, self.folder / "slurmctld.log"
        )
        self._spawn("slurmd", "-D", "-f", configuration)
        self._wait(
            "slurmd", lambda: "idle" in self.command("sinfo", "-h", "-o", "%T").stdout, self.folder / "slurmd.log"
        )

    def _write_files(self) -> None:
        for name in ("state", "spool", "bin"):
            (self.folder / name).mkdir()
        self.folder.chmod(0o755)
        (self.folder / "key").write_bytes(os.urandom(64))
        (self.folder / "key").chmod(stat.S_IRUSR | stat.S_IWUSR)
        host, ports = socket.gethostname().split(".")[0], _free_ports(2)
        text = _CONFIGURATION.format(
            host=host, ports=ports, user=getpass.getuser(), folder=self.folder, cpus=self._cpus
        )
        (self.folder / "slurm.conf").write_text(text)
        for name in _COMMANDS:
            # Snakemake removes SLURM's variables from the environment of jobs, and with them the configuration.
            if found := _program(name):
                script = self.folder / "bin" / name
                script.write_text(f'#!/bin/sh\nSLURM_CONF={self.folder}/slurm.conf exec {found} "$@"\n')
                script.chmod(0o755)

    def _spawn(self, name: str, *arguments: str) -> None:
        program = _program(name)
        assert program
        output = (self.folder / f"{name}.out").open("wb")
        with output:
            self._children.append(
                subprocess.Popen(
                    [program, *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=self.environment,
                    start_new_session=True,
                    preexec_fn=_end_with_parent,
                )
            )

    def _wait(self, name: str, ready: Callable[[], bool], log: Path, seconds: float = 60) -> None:
        """Wait until a daemon is ready. Raises Unavailable with the end of its log."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self._children[-1].poll() is None:
            if ready():
                return
            time.sleep(0.2)
        logs = [
            path.read_text(errors="replace")[-2000:] for path in (self.folder / f"{name}.out", log) if path.exists()
        ]
        raise Unavailable(f"{name} does not start:\n" + "\n".join(logs))

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command of SLURM to its end."""
        return subprocess.run(words, env=self.environment, text=True, capture_output=True, check=False)

    def stop(self) -> None:
        """End all jobs and daemons, and everything that they have started."""
        self.command("scancel", "--user", getpass.getuser())
        end = time.monotonic() + 15
        while time.monotonic() < end and self.command("squeue", "-h").stdout.strip():
            time.sleep(0.2)
        for child in reversed(self._children):
            child.terminate()
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        self._children.clear()
        while pids := left_behind():  # their own children then become this process's
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, 0)


def left_behind() -> list[int]:
    """Return the children of this process; as a subreaper it inherits those of daemons that have ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(path.read_text().rsplit(")", 1)[1].split()[1]) == os.getpid():
                found.append(int(path.parent.name))
    return found


@contextlib.contextmanager
def running(folder: Path, cpus: int) -> Iterator[Node]:
    """Run a node in an empty folder. Raises Unavailable."""
    if lacking := missing():
        raise Unavailable(f"{', '.join(lacking)} not found: this needs SLURM and MUNGE (apt-get install {PACKAGES})")
    node = Node(folder, cpus)
    try:
        node.start()
        yield node
    finally:
        node.stop()
