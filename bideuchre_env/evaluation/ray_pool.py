"""An executor with a worker on every processor of a Ray cluster, or of this machine.

This is the only file that imports Ray, and it does so when a pool is opened. A block is reported
when it is complete, so it can be retried elsewhere after its worker or node has died.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import shutil
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from multiprocessing.reduction import ForkingPickler
from typing import Any, NamedTuple

from bideuchre_env._checks import typed
from bideuchre_env._install import how_to_install
from bideuchre_env._quitting import before_quitting
from bideuchre_env.errors import OptionError, WorkerError
from bideuchre_env.evaluation.executors import (
    POLL_SECONDS,
    Executor,
    Function,
    Results,
    Stopped,
    executor_of,
    never,
    pack,
)
from bideuchre_env.evaluation.ray_worker import Sender, call

NEEDS_RAY = f"running on Ray needs ray: {how_to_install('ray')}"
ADDRESSES = "host:port of a cluster, auto, local or ray://host:port"
NO_CLUSTER = "this machine is not a node of a Ray cluster (start one with ray start)"
TRIES = 5
"""Retries of a block: by Ray after its worker or node has died, by the pool after other errors of
Ray, such as a failed fetch."""
RETRIED_BY_RAY = ("WorkerCrashedError", "NodeDiedError", "OutOfMemoryError")
AGAIN_SECONDS = 0.5
"""Delay before the pool's first retry of a block; it doubles with each further retry."""
CONNECT_SECONDS = 5.0
EMPTY_SECONDS = 30.0
"""Timeout for a cluster without a processor: after its last node is lost, another may join."""
NO_PROCESSOR = "the cluster of Ray has no processor: CPU=0 on every node, or no node left"
STORE_BYTES = 512 << 20  # object store of a Ray started here; Ray's default is 30 % of memory
_AUTH = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")
_TOKEN = secrets.token_hex(32)
"""The access token of Ray started here; Ray would store its own in the home folder. Ray reads the
token of a process once."""
_ADDRESS = re.compile(r"(?:ray://)?(?P<host>[\w.-]+|\[[0-9a-fA-F:]+\]):(?P<port>[0-9]{1,5})")
_LONGEST_FOLDER = 40  # Ray's socket paths below it may have at most 107 characters


class RayPool(Executor):
    """Workers on Ray, for `match(workers=pool)` and other work in blocks.

    `address` is host:port of a cluster that this machine is a node of, "auto" for a cluster that
    runs on this machine, "local" for one that is started for this pool and ends with it, or
    ray://host:port. None means the cluster of RAY_ADDRESS, else the one on this machine, else
    "local". After `ray.init`, omit the address: the pool uses that connection and leaves it open.

    It is a context manager. Raises `OptionError` without ray, and for an address without a cluster.
    """

    def __init__(self, address: str | None = None) -> None:
        try:
            import ray
        except ImportError:
            raise OptionError(NEEDS_RAY) from None
        self._ray: Any = ray
        self._cleanup = ExitStack()
        self._open = True
        if self._ray.is_initialized():
            if address is not None:
                raise OptionError(
                    f"ray address {typed(address)}: this program is connected to Ray already"
                )
            return
        try:
            self._connect(_check_address(address))
        except BaseException:
            self.close()
            raise

    @property
    def workers(self) -> int:
        """Current number of processors of the cluster."""
        return int(self._running().cluster_resources().get("CPU", 0))

    def run(
        self, function: Function, shared: Any, blocks: Iterable[Any], stopped: Stopped = never
    ) -> Results:
        """See `Executor.run`; the first blocks are sent before the iterator is consumed.

        `shared` is sent to each node once. The answers of a block come together, when it is
        complete, so that a retried block counts once.
        """
        progress = _BlocksInProgress(self._running(), function, shared, blocks)
        progress.fill(self.workers)
        return self._results(progress, stopped)

    def close(self) -> None:
        """Leave the cluster, or end it if it was started here. Idempotent."""
        self._open = False
        self._cleanup.close()

    def _shut_down(self) -> None:
        with suppress(Exception):  # Ray may have ended already
            try:
                self._ray.shutdown(wait_for_processes=True)
            except TypeError:  # an older Ray, without that option
                self._ray.shutdown()
        _allow_output(self._ray, True)

    def _running(self) -> Any:
        if not self._open or not self._ray.is_initialized():
            raise OptionError("this pool of workers on Ray is closed")
        return self._ray

    def _connect(self, address: str | None) -> None:
        try:
            if address != "local":
                self._init(address or "auto")
                return
        except ConnectionError:
            if address:
                raise OptionError(f"ray address {typed(address)}: {NO_CLUSTER}") from None
        self._start()

    def _start(self) -> None:
        """Start Ray on this machine for this program alone.

        It is protected by `_TOKEN`, unless the environment has settings of Ray's authentication.
        """
        place = tempfile.gettempdir()
        if len(place) > _LONGEST_FOLDER and os.path.isdir("/tmp"):
            place = "/tmp"
        folder = tempfile.mkdtemp(prefix="ray-", dir=place)
        clear = partial(shutil.rmtree, folder, ignore_errors=True)
        self._cleanup.enter_context(before_quitting(clear))
        self._cleanup.callback(clear)
        if not any(name in os.environ for name in _AUTH):
            os.environ["RAY_AUTH_TOKEN"] = _TOKEN
            for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN"):  # Ray sets the first one itself
                self._cleanup.callback(os.environ.pop, name, None)
        memory = {"object_store_memory": STORE_BYTES}
        self._init("local", include_dashboard=False, _temp_dir=folder, **memory)

    def _init(self, address: str, **options: Any) -> None:
        self._cleanup.callback(self._shut_down)
        try:
            with _sigterm_handler_restored():
                self._ray.init(address, **_QUIET, **options)
            _allow_output(self._ray, False)
        except ConnectionError:
            raise
        except SystemExit:  # Ray gives up like this
            raise OptionError(f"ray address {typed(address)}: no Ray answers there") from None
        except Exception as error:
            raise OptionError(f"ray address {typed(address)}: {_message(error)}") from None

    def _results(self, progress: _BlocksInProgress, stopped: Stopped) -> Results:
        last = time.monotonic()  # last time with a processor
        try:
            while (progress.sent or progress.lost) and not stopped():
                for number, answer in progress.results():
                    yield number, answer
                    if stopped():
                        return
                workers, now = self.workers, time.monotonic()
                last = now if workers else last
                if now - last > EMPTY_SECONDS:
                    raise WorkerError(NO_PROCESSOR)
                progress.fill(workers)
        finally:
            progress.cancel()


_QUIET: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}


@contextmanager
def workers_of(processes: int, ray: bool, address: str | None) -> Iterator[Executor]:
    """Yield an open executor, and close it at the end.

    The arguments are the options `--workers`, `--ray` and `--ray-address` of commands. Raises
    `OptionError` as `executor_of` and `RayPool` do, and if both kinds of workers are requested.
    """
    on_ray = ray or address is not None
    if on_ray and processes != 1:
        raise OptionError(f"--workers {processes}: expected only without --ray")
    with RayPool(address) if on_ray else executor_of(processes) as executor:
        yield executor


class _Sent(NamedTuple):
    """A block in progress, its number, and how often it was sent `before`."""

    number: int
    block: Any
    before: int


class _BlocksInProgress:
    """Sends blocks to Ray and receives their results, retrying lost ones.

    `sent` has the blocks in progress by Ray's reference to their result, `lost` those to be
    retried.
    """

    def __init__(self, ray: Any, function: Any, shared: Any, blocks: Iterable[Any]) -> None:
        self._ray, self._blocks = ray, enumerate(blocks)
        self._call = ray.remote(num_cpus=1, max_retries=TRIES)(call)
        self._common, self._sender = pack((function, shared)), Sender.here(function)
        self._stored = ray.put(self._common)  # fetched by each node once
        self.sent: dict[Any, _Sent] = {}
        self.lost: list[tuple[float, _Sent]] = []  # with the time of the retry

    def fill(self, workers: int) -> None:
        """Send retries that are due, and new blocks until there are two per worker.

        So each worker has one in progress and one queued.
        """
        now, lost, self.lost = time.monotonic(), self.lost, []
        for due, sent in lost:
            if due <= now:
                self._send(sent)
            else:
                self.lost.append((due, sent))
        for _ in range(max(2, 2 * workers) - len(self.sent)):
            following = next(self._blocks, None)
            if following is None:
                return
            self._send(_Sent(*following, 0))

    def _send(self, sent: _Sent) -> None:
        """Send a block. A retry has the common arguments by value: the stored ones may be lost."""
        common = self._common if sent.before else self._stored
        self.sent[self._call.remote(common, self._sender, sent.block)] = sent

    def results(self) -> Results:
        """Wait up to a tenth of a second, and yield the answers of blocks that have arrived."""
        promises = list(self.sent)
        if not promises:
            time.sleep(POLL_SECONDS)
            return
        done, _ = self._ray.wait(promises, num_returns=len(promises), timeout=POLL_SECONDS)
        for promise in done:
            sent = self.sent.pop(promise)
            try:
                answer = self._ray.get(promise)
            except self._ray.exceptions.RayError as error:
                self._send_again(sent, error)
                continue
            result, raised = ForkingPickler.loads(answer)
            if raised is not None:
                raise raised
            for each in result:
                yield sent.number, each

    def _send_again(self, sent: _Sent, error: Any) -> None:
        """Schedule a retry of a block that Ray has lost; `WorkerError` if that cannot help."""
        started = not isinstance(error, self._ray.exceptions.RayTaskError)
        while isinstance(error, self._ray.exceptions.RayTaskError):
            error = error.cause
        lost = isinstance(error, self._ray.exceptions.RayError)  # else Python's, e.g. ImportError
        retried = started and type(error).__name__ in RETRIED_BY_RAY
        if lost and not retried and sent.before < TRIES:
            due = time.monotonic() + AGAIN_SECONDS * 2**sent.before
            self.lost.append((due, sent._replace(before=sent.before + 1)))
        elif started:
            raise WorkerError(
                f"block {sent.number + 1} has failed on Ray after {TRIES + 1} tries: "
                f"{type(error).__name__}: {_message(error)}"
            ) from None
        else:
            raise WorkerError(f"a worker on Ray cannot begin: {_message(error)}") from None

    def cancel(self) -> None:
        """Cancel the blocks in progress, so that the processors are free."""
        for promise in self.sent:
            with suppress(Exception):
                self._ray.cancel(promise, force=True)
        self.sent.clear()


def _check_address(address: str | None) -> str | None:
    """Return the address, or RAY_ADDRESS (if set) for None and "auto".

    Raises `OptionError` unless it is None, "auto", "local", or an address where a server answers:
    Ray itself reports a missing server only after two minutes.
    """
    if address is None or address == "auto":
        address = os.environ.get("RAY_ADDRESS") or address
    if address in (None, "auto", "local"):
        return address
    parsed = _ADDRESS.fullmatch(address) if isinstance(address, str) else None
    if parsed is None:
        raise OptionError(f"ray address {typed(address)}: expected {ADDRESSES}")
    try:
        place = parsed["host"].strip("[]"), int(parsed["port"])
        socket.create_connection(place, CONNECT_SECONDS).close()
    except (OSError, OverflowError, UnicodeError) as error:
        raise OptionError(
            f"ray address {typed(address)}: no answer there ({_message(error)})"
        ) from None
    return address


def _message(error: BaseException) -> str:
    """Return the message of an error in one line."""
    return " ".join(str(error).split())[:300] or type(error).__name__


def _allow_output(ray: Any, allow: bool) -> None:
    """Set whether Ray prints messages about dead workers and nodes on standard output."""
    with suppress(AttributeError):  # another version of Ray
        ray._private.worker._worker_logs_enabled = allow


@contextmanager
def _sigterm_handler_restored() -> Iterator[None]:
    """Context manager that restores the handler of SIGTERM: Ray installs its own on connecting.

    It does nothing outside the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)
