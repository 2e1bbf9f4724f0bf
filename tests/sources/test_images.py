"""Row 36 of the faults: images that are empty, coloured, float or huge; and what the detector finds."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from biconsensus.errors import InputError, InputTypeError, MissingDependencyError, TooLargeError
from biconsensus.sources._images import as_grey_bytes, line_segments


@pytest.fixture
def square():
    picture = np.zeros((80, 100), np.uint8)
    picture[20:60, 30:70] = 200
    return picture


def test_a_square_has_four_sides(square):
    found = line_segments(square)
    assert found.endpoints.shape == (4, 4)
    assert (found.log_nfa < 0).all()
    length = np.hypot(*(found.endpoints[:, 2:] - found.endpoints[:, :2]).T)
    np.testing.assert_allclose(length, 40, atol=4)
    middle = (found.endpoints[:, :2] + found.endpoints[:, 2:]) / 2
    truth = {(50, 20), (50, 60), (30, 40), (70, 40)}
    assert {min(truth, key=lambda t: np.hypot(*(t - m))) for m in middle} == truth
    assert np.abs(middle - np.array([min(truth, key=lambda t: np.hypot(*(t - m))) for m in middle])).max() < 1.5


@pytest.mark.parametrize(
    "convert",
    [
        lambda p: np.stack([p] * 3, axis=2),
        lambda p: np.dstack([p, p, p, np.full_like(p, 7)]),
        lambda p: p / 255.0,
        lambda p: p.astype(np.float32),
        lambda p: p.astype(np.uint16) * 300,
        lambda p: p.astype(np.int32) - 100,
        lambda p: p > 0,
        lambda p: np.asfortranarray(p),
        lambda p: p[::-1][::-1],
    ],
)
def test_every_usual_kind_of_image_gives_the_same_segments(square, convert):
    expected, found = line_segments(square), line_segments(convert(square))
    np.testing.assert_allclose(found.endpoints, expected.endpoints, atol=0.5)


def test_the_input_is_not_changed(square):
    square.flags.writeable = False
    line_segments(square)
    assert square.sum() == 40 * 40 * 200


def test_grey_is_a_weighted_mean_of_colours():
    pixel = np.array([[[255, 0, 0], [0, 255, 0], [0, 0, 255]]], np.uint8)
    assert as_grey_bytes(pixel).tolist() == [[76, 150, 29]]
    np.testing.assert_array_equal(as_grey_bytes(pixel / 255), as_grey_bytes(pixel))


def test_nothing_is_found_in_nothing():
    for empty in (np.zeros((50, 50)), np.full((50, 50), 7.5), np.zeros((1, 1)), np.zeros((2, 60))):
        assert line_segments(empty).endpoints.shape == (0, 4)


def test_noise_has_few_segments():
    noise = np.random.default_rng(0).normal(size=(200, 200))
    assert len(line_segments(noise, max_log_nfa=0.0).endpoints) <= 2


def test_weak_and_short_segments_are_left_out(square):
    assert len(line_segments(square, min_length=60).endpoints) == 0
    assert len(line_segments(square, max_log_nfa=-1e6).endpoints) == 0


@pytest.mark.parametrize(
    ("image", "error", "message"),
    [
        (np.zeros((0, 10)), InputError, "empty"),
        (np.zeros((10, 0, 3)), InputError, "empty"),
        (np.zeros(10), InputError, r"\(10,\)"),
        (np.zeros((4, 4, 2)), InputError, r"\(4, 4, 2\)"),
        (np.zeros((2, 4, 4, 3)), InputError, r"\(2, 4, 4, 3\)"),
        (np.array([["a"]]), InputTypeError, "dtype"),
        (np.zeros((4, 4), complex), InputTypeError, "complex"),
        (np.array([[0.0, np.nan], [np.inf, 1.0]]), InputError, r"2 NaN or infinite.*\(0, 1\)"),
        (np.broadcast_to(np.uint8(0), (20_000, 20_000)), TooLargeError, "20000 x 20000.*max_pixels"),
    ],
)
def test_what_is_no_image_is_refused_with_the_reason(image, error, message):
    with pytest.raises(error, match=message):
        line_segments(image)


def test_without_opencv_the_message_says_how_to_get_it(monkeypatch, square):
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(MissingDependencyError, match="vision"):
        line_segments(square)
