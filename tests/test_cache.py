"""The executable cache: whole-signature keys, counters, limits."""

import threading

import numpy as np
import pytest
from support import assert_same_bits, counting, names, random_array, seeded

import mpsgraph_native as mg
from mpsgraph_native._core import testing

FIRST_ROWS = {(3, 3): [3168, 4070, 4196], (4, 4): [3168, 4070, 4196, 3006]}


@pytest.fixture(autouse=True)
def fresh_cache():
    """Every test starts from an empty cache and gives the limits back."""
    before = mg.cache_info()
    mg.clear_cache()
    yield
    mg.set_cache_limit(entries=before.limit_entries, bytes=before.limit_bytes)
    mg.clear_cache()


def counted(call):
    """(hits, misses, evictions) that the call adds."""
    before = mg.cache_info()
    call()
    after = mg.cache_info()
    return after.hits - before.hits, after.misses - before.misses, after.evictions - before.evictions


def add(size, name="float32"):
    return mg.addition(counting(size, dtype_name=name), counting(size, dtype_name=name))


def weights_gradient(kernel):
    """x [1,1,8,8] = 1..64, dy [1,1,4,4] = 1..16, stride 2, padding 1: only the weights' shape differs."""
    descriptor = mg.Convolution2DDescriptor(
        stride_in_x=2, stride_in_y=2, padding_left=1, padding_right=1, padding_top=1, padding_bottom=1
    )
    return mg.convolution_2d_weights_gradient(
        counting(1, 1, 4, 4), counting(1, 1, 8, 8), output_shape=(1, 1, *kernel), descriptor=descriptor
    )


def check_both_kernels():
    for kernel, row in FIRST_ROWS.items():
        np.testing.assert_array_equal(weights_gradient(kernel)[0, 0, 0], row)


def test_fields():
    info = mg.cache_info()
    for name in ("entries", "bytes", "hits", "misses", "evictions"):
        assert isinstance(getattr(info, name), int)
    assert info.compile_seconds >= 0


def test_each_call_counts_once():
    assert counted(lambda: add(3)) == (0, 1, 0)
    assert counted(lambda: add(3)) == (1, 0, 0)
    assert mg.cache_info().entries == 1
    assert mg.cache_info().bytes > 0


def test_compiling_takes_time():
    before = mg.cache_info().compile_seconds
    add(3)
    after = mg.cache_info().compile_seconds
    assert after > before
    add(3)
    assert mg.cache_info().compile_seconds == after


SIGNATURES = {
    "shape": lambda: add(4),
    "rank": lambda: mg.addition(counting(3, 1), counting(3, 1)),
    "type": lambda: add(3, "float16"),
    "operation": lambda: mg.subtraction(counting(3), counting(3)),
}


@pytest.mark.parametrize("difference", SIGNATURES)
def test_another_signature_is_another_entry(difference):
    add(3)
    assert counted(SIGNATURES[difference]) == (0, 1, 0)
    assert mg.cache_info().entries == 2
    assert counted(lambda: add(3)) == (1, 0, 0)


def test_every_descriptor_field_is_part_of_the_key():
    source = counting(1, 1, 6, 6)
    variants = [
        {}, {"stride_in_x": 2}, {"stride_in_y": 2}, {"dilation_rate_in_x": 2}, {"dilation_rate_in_y": 2},
        {"padding_left": 1}, {"padding_right": 1}, {"padding_top": 1}, {"padding_bottom": 1},
        {"padding_style": "TF_SAME"},
    ]  # fmt: skip
    results = [
        mg.convolution_2d(source, counting(1, 1, 2, 2), descriptor=mg.Convolution2DDescriptor(**variant))
        for variant in variants
    ]
    assert mg.cache_info().entries == len(variants)
    assert len({result.tobytes() for result in results}) == len(variants)


def test_absent_operands_are_part_of_the_key():
    rng = seeded("absent")
    x, r, w = (random_array(rng, shape) for shape in ((2, 2, 3), (9, 3), (9, 3)))
    descriptor = mg.GRUDescriptor()
    mg.gru(x, r, input_weight=w, descriptor=descriptor)
    state = np.zeros((2, 3), np.float32)
    assert counted(lambda: mg.gru(x, r, input_weight=w, init_state=state, descriptor=descriptor)) == (0, 1, 0)
    assert counted(lambda: mg.gru(x, r, input_weight=w, mask=state, descriptor=descriptor)) == (0, 1, 0)


@pytest.mark.parametrize("make", [np.asfortranarray, lambda x: x[::-1][::-1], lambda x: x.astype(">f4")])
def test_strides_and_byte_order_are_no_part_of_the_key(make):
    source = counting(3, 4)
    mg.addition(source, source)
    assert counted(lambda: mg.addition(make(source), source)) == (1, 0, 0)


def test_two_weights_shapes_are_two_entries():
    """pytorch/pytorch#112998."""
    check_both_kernels()
    assert mg.cache_info().entries == 2
    assert counted(check_both_kernels) == (2, 0, 0)


def test_equal_hashes_do_not_make_equal_keys():
    """pytorch/pytorch#187327, pytorch/pytorch#77176: the whole key is compared."""
    testing.force_hash_collisions(True)
    try:
        mg.clear_cache()
        check_both_kernels()
        check_both_kernels()
        assert mg.cache_info().entries == 2
    finally:
        mg.clear_cache()
        testing.force_hash_collisions(False)


def test_another_batch_size_in_between_changes_nothing():
    """pytorch/pytorch#177116: N = 16, then 8194, then 16 again."""
    rng = seeded("batches")

    def gradient(batch, x, dy):
        return mg.convolution_2d_weights_gradient(
            dy[:batch], x[:batch], output_shape=(4, 3, 3, 3), descriptor=mg.Convolution2DDescriptor()
        )

    x, dy = random_array(rng, (8194, 3, 6, 6)), random_array(rng, (8194, 4, 4, 4))
    first = gradient(16, x, dy)
    gradient(8194, x, dy)
    assert_same_bits(gradient(16, x, dy), first)
    mg.clear_cache()
    assert_same_bits(gradient(16, x, dy), first)


def test_clear_cache():
    add(3)
    add(4)
    mg.clear_cache()
    info = mg.cache_info()
    assert (info.entries, info.bytes) == (0, 0)
    assert counted(lambda: add(3)) == (0, 1, 0)


def test_the_least_recently_used_goes_first():
    mg.set_cache_limit(entries=2)
    add(3)
    add(4)
    add(3)
    assert counted(lambda: add(5)) == (0, 1, 1)
    assert mg.cache_info().entries == 2
    assert counted(lambda: add(3)) == (1, 0, 0)
    assert counted(lambda: add(4)) == (0, 1, 1)


def test_a_lower_limit_evicts_at_once():
    for size in range(3, 8):
        add(size)
    assert counted(lambda: mg.set_cache_limit(entries=2)) == (0, 0, 3)
    assert mg.cache_info().entries == 2
    assert counted(lambda: add(7)) == (1, 0, 0)


def test_limit_of_bytes():
    add(3)
    one = mg.cache_info().bytes
    mg.set_cache_limit(bytes=4 * one)
    for size in range(4, 40):
        add(size)
    info = mg.cache_info()
    assert info.bytes <= 4 * one
    assert info.evictions > 0


@pytest.mark.parametrize("limit", [{"entries": 0}, {"bytes": 0}], ids=str)
def test_no_room_at_all_still_computes(limit):
    mg.set_cache_limit(**limit)
    for _ in range(2):
        np.testing.assert_array_equal(add(3), 2 * counting(3))
    assert mg.cache_info().entries == 0


@pytest.mark.parametrize("argument", ["entries", "bytes"])
@pytest.mark.parametrize("value", [-1, 1.5, "many"])
def test_limits_refused(argument, value):
    with pytest.raises((ValueError, TypeError), match=names(argument)):
        mg.set_cache_limit(**{argument: value})


def test_a_refused_call_leaves_no_entry():
    with pytest.raises(ValueError, match=names("primary", "secondary")):
        mg.addition(counting(3), counting(4))
    assert mg.cache_info().entries == 0


def test_an_evicted_executable_in_use_survives():
    """Held by its caller, an executable outlives its place in the cache."""
    graph = mg.Graph()
    x = graph.placeholder((3,), "float32", name="x")
    executable = graph.compile(feeds=[x], targets=[graph.square(x)])
    mg.clear_cache()
    np.testing.assert_array_equal(executable.run([counting(3)])[0], [1, 4, 9])


def test_graph_run_compiles_once():
    graph = mg.Graph()
    x = graph.placeholder((3,), "float32", name="x")
    y = graph.square(x)
    assert counted(lambda: graph.run(feeds={x: counting(3)}, targets=[y])) == (0, 1, 0)
    assert counted(lambda: graph.run(feeds={x: counting(3)}, targets=[y])) == (1, 0, 0)


def test_many_threads_count_every_call():
    calls, threads = 50, 8

    def work():
        for k in range(calls):
            add(3 + k % 5)

    def together():
        workers = [threading.Thread(target=work) for _ in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    hits, misses, _ = counted(together)
    assert hits + misses == calls * threads
    assert mg.cache_info().entries == 5


def test_many_shapes_stay_within_the_limits():
    for size in range(1, 400):
        add(size)
    info = mg.cache_info()
    assert info.bytes <= info.limit_bytes
    assert info.entries <= info.limit_entries


def limits():
    information = mg.cache_info()
    return information.limit_entries, information.limit_bytes


def test_a_limit_for_a_block():
    before = limits()
    for size in range(3, 8):
        add(size)
    with mg.cache_limit(entries=2) as nothing:
        assert nothing is None
        assert limits() == (2, before[1])
        assert mg.cache_info().entries == 2
        with mg.cache_limit(bytes=10**6, entries=1):
            assert limits() == (1, 10**6)
            with mg.cache_limit():
                assert limits() == (1, 10**6)
        assert limits() == (2, before[1])
    assert limits() == before
    assert counted(lambda: add(7)) == (1, 0, 0)


def test_a_limit_for_a_block_that_raises():
    before = limits()
    with pytest.raises(KeyError), mg.cache_limit(entries=3), mg.cache_limit(bytes=5):
        assert limits() == (3, 5)
        raise KeyError
    assert limits() == before


def test_what_a_block_does_not_limit_stays_as_it_is_set_meanwhile():
    before = limits()
    with mg.cache_limit(entries=3):
        mg.set_cache_limit(entries=7, bytes=10**7)
    assert limits() == (before[0], 10**7)


@pytest.mark.parametrize("argument", ["entries", "bytes"])
@pytest.mark.parametrize("value", [-1, 1.5, "many", True])
def test_limits_of_a_block_refused(argument, value):
    before = limits()
    with (
        pytest.raises((ValueError, TypeError), match=names(argument)),
        mg.cache_limit(**{"entries": 5, "bytes": 5, argument: value}),
    ):
        raise AssertionError("it was entered")
    assert limits() == before


def large_graph():
    """A fresh graph whose compilation takes long enough for others to come."""
    graph = mg.Graph()
    tensor = graph.placeholder((3,), name="x")
    feeds = [tensor]
    for _ in range(400):
        tensor = graph.square(graph.addition(tensor, tensor))
    return graph, feeds, [tensor]


def test_threads_that_want_one_entry_build_it_once():
    threads, rounds = 8, 10
    problems = [large_graph() for _ in range(threads)]  # equal programs of different graphs
    barrier = threading.Barrier(threads)
    executables = [[] for _ in range(threads)]

    def work(index):
        graph, feeds, targets = problems[index]
        for _ in range(rounds):
            if barrier.wait(60) == 0:
                mg.clear_cache()
            barrier.wait(60)
            executables[index].append(graph.compile(feeds=feeds, targets=targets))
            barrier.wait(60)
            seen.add(mg.cache_info()[:1] + mg.cache_info()[2:5])
            barrier.wait(60)

    seen = set()
    workers = [threading.Thread(target=work, args=(index,)) for index in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(len(compiled) == rounds for compiled in executables)
    assert seen == {(1, threads - 1, 1, 0)}  # entries, hits, misses, evictions


def test_a_build_that_fails_fails_for_all_who_wait():
    threads = 8
    barrier = threading.Barrier(threads)
    errors = []

    def work():
        barrier.wait(60)
        try:
            mg.addition(counting(3), counting(4))
        except mg.ShapeError as error:
            errors.append(str(error))

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(errors) == threads and len(set(errors)) == 1
    assert mg.cache_info().entries == 0
