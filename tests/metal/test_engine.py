"""The core of the mps engine: memory, executables, failures, packages on disk.

It runs on a Mac, and on the stand-in where the package was built with it; elsewhere there is nothing to test.
"""

import ctypes
import logging
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest
from support import counting

import mpsgraph_native as mg
from mpsgraph_native._core import testing

MPS = next(device for device in mg.devices() if device.name == "mps")
STAND_IN = "stand-in" in MPS.description

pytestmark = pytest.mark.skipif(not MPS.available, reason=f"device mps: {MPS.reason}")
needs_stand_in = pytest.mark.skipif(not STAND_IN, reason="only the stand-in counts")


@pytest.fixture(autouse=True)
def undisturbed(tmp_path):
    storage = mg.compiled_storage()
    mg.set_compiled_storage(None)
    mg.clear_cache()
    yield
    testing.fail_command_buffers(0)
    testing.hide_devices(False)
    testing.set_macos_version(0, 0)
    mg.set_compiled_storage(storage)
    mg.set_optimization_level(0)
    mg.clear_cache()


def counter(name):
    """A counter of the stand-in, which lives in the core library."""
    library = ctypes.CDLL(next(Path(testing.__file__).parent.glob("libmpsgraph_native_core.*")))
    function = getattr(library, f"stand_in_{name}")
    function.restype = ctypes.c_long
    return function


class Transfers:
    """What the device shared and copied inside the block."""

    def __enter__(self):
        self.before = mg.transfer_statistics()
        return self

    def __exit__(self, *_):
        after = mg.transfer_statistics()
        self.aliased = after["device_aliased_bytes"] - self.before["device_aliased_bytes"]
        self.copied = after["device_copied_bytes"] - self.before["device_copied_bytes"]


def on_pages(shape, dtype="float32"):
    return np.asarray(mg.empty(shape, dtype))


def at_offset(count, offset, dtype="float32"):
    """An array whose memory begins `offset` bytes after a page."""
    page = os.sysconf("SC_PAGESIZE")
    size = count * np.dtype(dtype).itemsize
    memory = np.empty(size + 2 * page + offset, np.uint8)
    start = -memory.ctypes.data % page + offset
    return memory[start : start + size].view(dtype)


def add(a, b, **keywords):
    return mg.addition(a, b, device="mps", **keywords)


# --- the device


def test_the_description_says_what_computes():
    assert ("stand-in" in MPS.description) == (sys.platform != "darwin")
    assert STAND_IN or "MPSGraph on" in MPS.description


def test_the_native_version_is_the_package_version():
    assert testing.native_version() == mg.__version__


def test_a_machine_without_a_device():
    testing.hide_devices(True)
    assert not MPS.available
    assert "Metal finds no device" in MPS.reason
    with pytest.raises(mg.DeviceError, match="Metal finds no device"):
        add(counting(3), counting(3))
    testing.hide_devices(False)
    np.testing.assert_array_equal(add(counting(3), counting(3)), 2 * counting(3))


def test_an_executable_on_a_device_that_went_away():
    graph = mg.Graph()
    x = graph.placeholder((3,), "float32", name="x")
    executable = graph.compile(feeds=[x], targets=[graph.square(x)], device="mps")
    testing.hide_devices(True)
    with pytest.raises(mg.DeviceError, match="not available"):
        executable.run([counting(3)])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_use_after_fork():
    """pytorch/pytorch#178037: a forked child that touches Metal hangs or dies; here it is told."""
    code = """
        import os, sys, numpy as np, mpsgraph_native as mg
        x = np.ones(4, np.float32)
        graph = mg.Graph()
        p = graph.placeholder((4,), "float32", name="p")
        executable = graph.compile(feeds=[p], targets=[graph.square(p)], device="mps")
        executable.run([x])
        child = os.fork()
        if child == 0:
            told = 0
            for action in (lambda: executable.run([x]), lambda: mg.addition(x, x, device="mps")):
                try:
                    action()
                except mg.DeviceError as error:
                    told += "use spawn" in str(error)
            del executable
            mg.clear_cache()
            mg.trim_memory()
            mg.addition(x, x, device="cpu")
            os._exit(0 if told == 2 else 1)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], timeout=120, check=False)
    assert done.returncode == 0


# --- memory


def test_page_aligned_memory_is_shared():
    a, b = on_pages((64, 65)), on_pages((64, 65))
    a[...], b[...] = counting(64, 65), 2
    with Transfers() as transfers:
        result = add(a, b)
    np.testing.assert_array_equal(result, counting(64, 65) + 2)
    assert (transfers.aliased, transfers.copied) == (3 * a.nbytes, 0)


def test_results_land_in_the_callers_memory():
    a, out = on_pages((1000,)), on_pages((1000,))
    a[...] = 3
    with Transfers() as transfers:
        assert add(a, a, out=out) is out
    np.testing.assert_array_equal(out, 6)
    assert transfers.copied == 0


@pytest.mark.parametrize("offset", [4, 16, 64])
def test_small_memory_beside_pages_is_copied_once(offset):
    a, b, out = (at_offset(100, offset) for _ in range(3))
    a[...], b[...] = 1, 2
    with Transfers() as transfers:
        add(a, b, out=out)
    np.testing.assert_array_equal(out, 3)
    assert (transfers.aliased, transfers.copied) == (0, 1200)


@pytest.mark.parametrize("version, shared", [((15, 0), True), ((14, 0), False)])
def test_large_memory_beside_pages_is_shared_from_macos_15(version, shared):
    testing.set_macos_version(*version)
    a = at_offset(1 << 15, 64)
    a[...] = np.arange(a.size)
    with Transfers() as transfers:
        result = mg.square(a, device="mps")
    np.testing.assert_array_equal(result, a * a)
    assert transfers.copied == (0 if shared else a.nbytes)


@pytest.mark.parametrize("offset", [4, 8])
def test_an_offset_that_the_device_cannot_read_is_copied(offset):
    a = at_offset(1 << 15, offset)
    a[...] = 2
    with Transfers() as transfers:
        np.testing.assert_array_equal(mg.square(a, device="mps"), 4)
    assert transfers.copied == a.nbytes


def test_views_into_shared_memory():
    whole = on_pages((3, 4096))
    whole[...] = np.arange(3)[:, None]
    with Transfers() as transfers:
        for row in range(3):
            add(whole[row], whole[row], out=whole[(row + 1) % 3])
    assert transfers.copied == 0
    np.testing.assert_array_equal(whole[:, 0], [0, 0, 0])


def test_memory_around_an_output_stays():
    whole = on_pages((4096,))
    whole[...] = 7
    mg.square(counting(10), device="mps", out=whole[16:26])
    np.testing.assert_array_equal(whole[16:26], counting(10) ** 2)
    assert (whole[:16] == 7).all() and (whole[26:] == 7).all()


def test_memory_mapped_files(tmp_path):
    counting(5000).tofile(tmp_path / "x")
    mapped = np.memmap(tmp_path / "x", np.float32, mode="r")
    np.testing.assert_array_equal(mg.square(mapped, device="mps"), counting(5000) ** 2)


@needs_stand_in
def test_recurring_arrays_are_viewed_once():
    aliased = counter("aliased_bytes")
    a, out = on_pages((3000,)), on_pages((3000,))
    a[...] = 1
    add(a, a, out=out)
    before = aliased()
    for _ in range(20):
        add(a, a, out=out)
    assert aliased() == before


@needs_stand_in
def test_views_die_with_their_memory():
    """An adopted array's pages go back to the system, and no view of them is left to be found."""
    live = counter("live_objects")
    add(on_pages((3000,)), on_pages((3000,)))
    mg.trim_memory()
    before = live()
    arrays = [on_pages((3000,)) for _ in range(40)]
    for array in arrays:
        array[...] = 2
        mg.addition(array, array, device="mps")
    assert live() >= before + 40
    del array, arrays
    mg.trim_memory()
    assert live() <= before
    for size in range(1, 200):
        array = on_pages((size * 50,))
        array[...] = size
        np.testing.assert_array_equal(mg.square(array, device="mps"), size * size)
        mg.trim_memory()


@needs_stand_in
def test_objects_do_not_accumulate():
    live = counter("live_objects")
    a, small = on_pages((64, 64)), at_offset(100, 4)
    a[...], small[...] = 1, 1

    def work():
        for _ in range(50):
            add(a, a)
            mg.square(small, device="mps")
            testing.fail_command_buffers(1)
            with pytest.raises(mg.DeviceError):
                add(a, a)

    work()
    before = live()
    work()
    assert live() == before


# --- runs


def test_feeds_and_targets_keep_their_order():
    graph = mg.Graph()
    x = graph.placeholder((2, 3), "float32", name="x")
    y = graph.placeholder((3,), "float32", name="y")
    z = graph.placeholder((), "float32", name="z")
    targets = [graph.subtraction(y, z), graph.square(x), graph.multiplication(x, z), graph.subtraction(x, y)]
    arrays = {x: counting(2, 3), y: 10 * counting(3), z: np.array(4, np.float32)}
    expected = [arrays[y] - 4, arrays[x] ** 2, arrays[x] * 4, arrays[x] - arrays[y]]
    for feeds in ([x, y, z], [z, x, y], [y, z, x]):
        executable = graph.compile(feeds=feeds, targets=targets, device="mps")
        for got, want in zip(executable.run([arrays[feed] for feed in feeds]), expected, strict=True):
            np.testing.assert_array_equal(got, want)


def test_targets_that_need_no_computation():
    graph = mg.Graph()
    x = graph.placeholder((4,), "float32", name="x")
    unused = graph.placeholder((2,), "float32", name="unused")
    constant = graph.constant(counting(2, 2))
    square = graph.square(x)
    targets = [x, constant, square, square, x]
    executable = graph.compile(feeds=[x, unused], targets=targets, device="mps")
    results = executable.run([counting(4), counting(2)])
    for got, want in zip(
        results, [counting(4), counting(2, 2), counting(4) ** 2, counting(4) ** 2, counting(4)], strict=True
    ):
        np.testing.assert_array_equal(got, want)
    executable = graph.compile(feeds=[x], targets=[x, constant], device="mps")
    np.testing.assert_array_equal(executable.run([counting(4)])[0], counting(4))


def test_many_threads_on_one_executable():
    a = on_pages((50, 50))
    a[...] = counting(50, 50)
    wrong = []

    def work(k):
        for i in range(10):
            result = add(a, np.float32(k * i) * np.ones((50, 50), np.float32))
            if not np.array_equal(result, counting(50, 50) + k * i):
                wrong.append((k, i))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_failed_command_buffer_raises_in_the_calling_thread():
    """ml-explore/mlx#3224, jax-mps c71e5f8: a GPU's failure must not end the process."""
    testing.fail_command_buffers(1)
    with pytest.raises(mg.DeviceError, match="command buffer failed"):
        add(counting(3), counting(3))
    np.testing.assert_array_equal(add(counting(3), counting(3)), 2 * counting(3))


def test_a_failed_command_buffer_raises_in_the_awaiting_thread():
    graph = mg.Graph()
    x = graph.placeholder((3,), "float32", name="x")
    executable = graph.compile(feeds=[x], targets=[graph.square(x)], device="mps")
    testing.fail_command_buffers(1)
    future = executable.run_async([counting(3)])
    with pytest.raises(mg.DeviceError, match="command buffer failed"):
        future.result(60)
    (result,) = executable.run_async([counting(3)]).result(60)
    np.testing.assert_array_equal(result, counting(3) ** 2)


def test_a_failed_run_writes_nothing_beside_pages():
    out = at_offset(3, 4)
    out[...] = 7
    testing.fail_command_buffers(1)
    with pytest.raises(mg.DeviceError):
        add(counting(3), counting(3), out=out)
    np.testing.assert_array_equal(out, 7)


# --- what MPSGraph lacks


def test_float64_is_refused_by_name():
    with pytest.raises(TypeError, match=r"primary.*mps"):
        add(counting(3, dtype_name="float64"), counting(3, dtype_name="float64"))
    with pytest.raises(TypeError, match=r"dtype.*mps"):
        mg.cast(counting(3), dtype="float64", device="mps")


def test_an_operation_newer_than_the_system():
    testing.set_macos_version(11, 0)
    descriptor = mg.GRUDescriptor()
    with pytest.raises(mg.DeviceError, match=r"macOS"):
        mg.gru(counting(2, 1, 6), recurrent_weight=counting(6, 2), descriptor=descriptor, device="mps")


def empty_cases():
    e = np.zeros
    f = np.float32
    convolution = mg.Convolution2DDescriptor()
    yield "sum", lambda d: mg.reduction_sum(e((0, 3), f), axes=[0], device=d)
    yield "product", lambda d: mg.reduction_product(e((0, 3), f), axes=[0], device=d)
    yield "maximum", lambda d: mg.reduction_maximum(e((0, 3), f), axes=[0], device=d)
    yield "minimum", lambda d: mg.reduction_minimum(e((0, 3), f), axes=[0], device=d)
    yield "integer maximum", lambda d: mg.reduction_maximum(e((0, 3), np.int32), axes=[0], device=d)
    yield "long minimum", lambda d: mg.reduction_minimum(e((0, 3), np.int64), axes=[0], device=d)
    yield "half maximum", lambda d: mg.reduction_maximum(e((0, 3), np.float16), axes=[0], device=d)
    yield "mean", lambda d: mg.mean(e((0, 3), f), axes=[0], device=d)
    yield "addition", lambda d: mg.addition(e((0, 3), f), e((3,), f), device=d)
    yield "product of no depth", lambda d: mg.matrix_multiplication(e((2, 0), f), e((0, 3), f), device=d)
    yield (
        "losses",
        lambda d: mg.softmax_cross_entropy(e((3, 0), f), e((3, 0), f), axis=1, reduction_type="None", device=d),
    )
    yield (
        "mean loss",
        lambda d: mg.softmax_cross_entropy(e((0, 3), f), e((0, 3), f), axis=1, reduction_type="Mean", device=d),
    )
    yield (
        "weights gradient of an empty batch",
        lambda d: mg.convolution_2d_weights_gradient(
            e((0, 4, 3, 3), f), e((0, 2, 5, 5), f), output_shape=(4, 2, 3, 3), descriptor=convolution, device=d
        ),
    )
    yield (
        "no input channels",
        lambda d: mg.convolution_2d(e((1, 0, 5, 5), f), e((4, 0, 3, 3), f), descriptor=convolution, device=d),
    )
    yield (
        "slice gradient",
        lambda d: mg.slice_gradient(e((0,), f), fwd_in_shape=(4,), starts=(1,), ends=(1,), strides=(1,), device=d),
    )


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in empty_cases()])
def test_tensors_without_elements(case):
    """pytorch/pytorch#187399, jax-mps 8d25a9d: a dimension of size 0 ends the process inside MPSGraph."""
    got, want = case("mps"), case("cpu")
    assert got.shape == want.shape and got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("steps, channels", [(3, 0), (0, 2)])
def test_recurrent_operations_without_steps_or_channels(steps, channels):
    rng = np.random.default_rng(0)
    units = 3
    array = lambda *shape: rng.standard_normal(shape).astype(np.float32)  # noqa: E731
    x, h0, bias = array(steps, 2, channels), array(2, units), array(3 * units)
    recurrent, weight = array(3 * units, units), array(3 * units, channels)
    descriptor = mg.GRUDescriptor(training=True)
    state = array(2, units)
    results = {}
    for device in ("mps", "cpu"):
        keywords = {
            "recurrent_weight": recurrent, "input_weight": weight, "bias": bias, "init_state": h0,
            "descriptor": descriptor, "device": device,
        }  # fmt: skip
        h, z_state = mg.gru(x, **keywords)
        gradients = mg.gru_gradients(
            x, source_gradient=np.ones_like(h), z_state=z_state, output_fwd=h, state_gradient=state, **keywords
        )
        results[device] = [h, *(gradient for gradient in gradients if gradient is not None)]
    for got, want in zip(results["mps"], results["cpu"], strict=True):
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_a_graph_around_tensors_without_elements():
    graph = mg.Graph()
    x = graph.placeholder((0, 3), "float32", name="x")
    y = graph.placeholder((3,), "float32", name="y")
    total = graph.addition(graph.reduction_sum(graph.square(x), axes=[0]), y)
    executable = graph.compile(feeds=[x, y], targets=[total, graph.square(x)], device="mps")
    total_value, square_value = executable.run([np.zeros((0, 3), np.float32), counting(3)])
    np.testing.assert_array_equal(total_value, counting(1, 3))
    assert square_value.shape == (0, 3)


# --- executables on disk


def entries(directory):
    return sorted(path.name for path in directory.iterdir())


def test_executables_are_kept_on_disk(tmp_path):
    mg.set_compiled_storage(tmp_path)
    assert Path(mg.compiled_storage()) == tmp_path
    add(counting(3), counting(3))
    first = entries(tmp_path)
    assert len(first) == 1
    mg.clear_cache()
    np.testing.assert_array_equal(add(counting(3), counting(3)), 2 * counting(3))
    assert entries(tmp_path) == first
    add(counting(4), counting(4))
    mg.set_optimization_level(1)
    mg.clear_cache()
    add(counting(3), counting(3))
    assert len(entries(tmp_path)) == 3


@needs_stand_in
def test_a_kept_executable_is_not_compiled_again(tmp_path):
    mg.set_compiled_storage(tmp_path)
    graph = mg.Graph()
    x = graph.placeholder((2, 3), "float32", name="x")
    y = graph.placeholder((3,), "float32", name="y")
    targets = [graph.square(y), graph.subtraction(x, y), graph.addition(x, y)]
    compilations, loads = counter("compilations"), counter("package_loads")
    for expected in ((1, 0), (0, 1)):
        before = compilations(), loads()
        executable = graph.compile(feeds=[y, x], targets=targets, device="mps")
        results = executable.run([counting(3), 10 * counting(2, 3)])
        assert (compilations() - before[0], loads() - before[1]) == expected
        for got, want in zip(
            results,
            [counting(3) ** 2, 10 * counting(2, 3) - counting(3), 10 * counting(2, 3) + counting(3)],
            strict=True,
        ):
            np.testing.assert_array_equal(got, want)
        del executable
        mg.clear_cache()


@pytest.mark.parametrize("file", ["entry", "package"])
@pytest.mark.parametrize("damage", ["longer", "shorter", "changed", "missing"])
def test_a_damaged_entry_is_a_miss_with_one_warning(tmp_path, caplog, file, damage):
    mg.set_compiled_storage(tmp_path)
    add(counting(3), counting(3))
    folder = tmp_path / entries(tmp_path)[0]
    victim = folder / file
    if victim.is_dir():
        victim = next(path for path in sorted(victim.rglob("*")) if path.is_file())
    content = victim.read_bytes()
    if damage == "missing":
        victim.unlink()
    else:
        changed = bytes([content[0] ^ 1]) + content[1:]
        victim.write_bytes({"longer": content + b"x", "shorter": content[:-1], "changed": changed}[damage])
    mg.clear_cache()
    with caplog.at_level(logging.WARNING, "mpsgraph_native"):
        np.testing.assert_array_equal(add(counting(3), counting(3)), 2 * counting(3))
        mg.clear_cache()
        add(counting(3), counting(3))
    assert len([record for record in caplog.records if "is not used" in record.message]) == 1
    assert (folder / "entry").exists()


def test_a_place_that_cannot_be_written_is_one_warning(tmp_path, caplog):
    (tmp_path / "file").write_text("in the way")
    mg.set_compiled_storage(tmp_path / "file" / "cache")
    with caplog.at_level(logging.WARNING, "mpsgraph_native"):
        for count in (3, 4):
            np.testing.assert_array_equal(add(counting(count), counting(count)), 2 * counting(count))
    assert len([record for record in caplog.records if "are not kept" in record.message]) == 1


def test_nothing_is_kept_before_macos_14(tmp_path):
    testing.set_macos_version(13, 0)
    mg.set_compiled_storage(tmp_path)
    add(counting(3), counting(3))
    assert not entries(tmp_path)


def test_constants_are_part_of_the_signature(tmp_path):
    mg.set_compiled_storage(tmp_path)
    for value in (1.0, 1.0 + 2**-20):
        graph = mg.Graph()
        x = graph.placeholder((2,), "float32", name="x")
        constant = graph.constant(np.full(2, value, np.float32))
        (result,) = graph.compile(feeds=[x], targets=[graph.addition(x, constant)], device="mps").run(
            [np.zeros(2, np.float32)]
        )
        np.testing.assert_array_equal(result, np.float32(value))
    assert len(entries(tmp_path)) == 2


def test_large_constants_are_not_kept(tmp_path):
    mg.set_compiled_storage(tmp_path)
    graph = mg.Graph()
    x = graph.placeholder((1 << 15,), "float32", name="x")
    constant = graph.constant(np.ones(1 << 15, np.float32))
    graph.compile(feeds=[x], targets=[graph.addition(x, constant)], device="mps")
    assert not entries(tmp_path)


@pytest.mark.parametrize("level", [2, -1, True, "0"])
def test_optimization_levels(level):
    with pytest.raises(mg.ShapeError, match="level"):
        mg.set_optimization_level(level)


@pytest.mark.parametrize("name", ["MPSGRAPH_NATIVE_OPTIMIZATION", "MPSGRAPH_NATIVE_CACHE"])
def test_settings_without_a_meaning_are_refused_at_import(name):
    done = subprocess.run(
        [sys.executable, "-c", "import mpsgraph_native"], env=os.environ | {name: "fast"}, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert name in done.stderr


def test_settings_come_from_the_environment(tmp_path):
    code = "import mpsgraph_native as mg; print(mg.optimization_level(), mg.compiled_storage())"
    for variables, expected in (
        ({"MPSGRAPH_NATIVE_OPTIMIZATION": "1", "MPSGRAPH_NATIVE_CACHE_DIR": str(tmp_path)}, f"1 {tmp_path}"),
        ({"MPSGRAPH_NATIVE_CACHE": "0", "MPSGRAPH_NATIVE_CACHE_DIR": str(tmp_path)}, "0 None"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | variables,
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        assert done.stdout.strip() == expected
