# Written from the package itself; CONTRIBUTING.md says how.
from typing import Any, SupportsIndex

from mpsgraph_native._core.graph import GraphCore, Tensor
from mpsgraph_native.descriptors import (
    Convolution2DDescriptor,
    DepthwiseConvolution2DDescriptor,
    GRUDescriptor,
    LSTMDescriptor,
    Pooling2DDescriptor,
    Pooling4DDescriptor,
    SingleGateRNNDescriptor,
)
from mpsgraph_native.enumerations import LossReductionType
from mpsgraph_native.ops.recurrent import GRUGradients, LSTMGradients, SingleGateRNNGradients
from mpsgraph_native.typing import Axes, DTypeLike, Integers, LossReductionTypeName

__all__ = ["Graph"]

class Graph(GraphCore):
    def to_dot(self) -> str: ...
    def _repr_svg_(self) -> str | None: ...
    def convolution_2d(
        self, source: Tensor, weights: Tensor, *, descriptor: Convolution2DDescriptor, name: str | None = None
    ) -> Tensor: ...
    def convolution_2d_data_gradient(
        self,
        incoming_gradient: Tensor,
        weights: Tensor,
        *,
        output_shape: Integers | Tensor,
        descriptor: Convolution2DDescriptor,
        name: str | None = None,
    ) -> Tensor: ...
    def convolution_2d_weights_gradient(
        self,
        incoming_gradient: Tensor,
        source: Tensor,
        *,
        output_shape: Integers | Tensor,
        descriptor: Convolution2DDescriptor,
        name: str | None = None,
    ) -> Tensor: ...
    def depthwise_convolution_2d(
        self, source: Tensor, weights: Tensor, *, descriptor: DepthwiseConvolution2DDescriptor, name: str | None = None
    ) -> Tensor: ...
    def depthwise_convolution_2d_data_gradient(
        self,
        incoming_gradient: Tensor,
        weights: Tensor,
        *,
        output_shape: Integers | Tensor,
        descriptor: DepthwiseConvolution2DDescriptor,
        name: str | None = None,
    ) -> Tensor: ...
    def depthwise_convolution_2d_weights_gradient(
        self,
        incoming_gradient: Tensor,
        source: Tensor,
        *,
        output_shape: Integers | Tensor,
        descriptor: DepthwiseConvolution2DDescriptor,
        name: str | None = None,
    ) -> Tensor: ...
    def avg_pooling_2d(self, source: Tensor, *, descriptor: Pooling2DDescriptor, name: str | None = None) -> Tensor: ...
    def avg_pooling_2d_gradient(
        self, gradient: Tensor, source: Tensor, *, descriptor: Pooling2DDescriptor, name: str | None = None
    ) -> Tensor: ...
    def avg_pooling_4d(self, source: Tensor, *, descriptor: Pooling4DDescriptor, name: str | None = None) -> Tensor: ...
    def avg_pooling_4d_gradient(
        self, gradient: Tensor, source: Tensor, *, descriptor: Pooling4DDescriptor, name: str | None = None
    ) -> Tensor: ...
    def l2_norm_pooling_4d(
        self, source: Tensor, *, descriptor: Pooling4DDescriptor, name: str | None = None
    ) -> Tensor: ...
    def l2_norm_pooling_4d_gradient(
        self, gradient: Tensor, source: Tensor, *, descriptor: Pooling4DDescriptor, name: str | None = None
    ) -> Tensor: ...
    def max_pooling_2d(self, source: Tensor, *, descriptor: Pooling2DDescriptor, name: str | None = None) -> Tensor: ...
    def max_pooling_2d_gradient(
        self,
        gradient: Tensor,
        *,
        source: Tensor | None = None,
        indices: Tensor | None = None,
        output_shape: Integers | Tensor | None = None,
        descriptor: Pooling2DDescriptor,
        name: str | None = None,
    ) -> Tensor: ...
    def max_pooling_2d_return_indices(
        self, source: Tensor, *, descriptor: Pooling2DDescriptor, name: str | None = None
    ) -> tuple[Tensor, Tensor]: ...
    def max_pooling_4d(self, source: Tensor, *, descriptor: Pooling4DDescriptor, name: str | None = None) -> Tensor: ...
    def max_pooling_4d_gradient(
        self,
        gradient: Tensor,
        *,
        source: Tensor | None = None,
        indices: Tensor | None = None,
        output_shape: Integers | Tensor | None = None,
        descriptor: Pooling4DDescriptor,
        name: str | None = None,
    ) -> Tensor: ...
    def max_pooling_4d_return_indices(
        self, source: Tensor, *, descriptor: Pooling4DDescriptor, name: str | None = None
    ) -> tuple[Tensor, Tensor]: ...
    def gru(
        self,
        source: Tensor,
        recurrent_weight: Tensor,
        *,
        input_weight: Tensor | None = None,
        bias: Tensor | None = None,
        init_state: Tensor | None = None,
        mask: Tensor | None = None,
        secondary_bias: Tensor | None = None,
        descriptor: GRUDescriptor,
        name: str | None = None,
    ) -> Any: ...
    def gru_gradients(
        self,
        source: Tensor,
        recurrent_weight: Tensor,
        source_gradient: Tensor | None,
        z_state: Tensor,
        output_fwd: Tensor,
        *,
        state_gradient: Tensor | None = None,
        input_weight: Tensor | None = None,
        bias: Tensor | None = None,
        init_state: Tensor | None = None,
        mask: Tensor | None = None,
        secondary_bias: Tensor | None = None,
        descriptor: GRUDescriptor,
        name: str | None = None,
    ) -> GRUGradients[Tensor]: ...
    def lstm(
        self,
        source: Tensor,
        recurrent_weight: Tensor,
        *,
        input_weight: Tensor | None = None,
        bias: Tensor | None = None,
        init_state: Tensor | None = None,
        init_cell: Tensor | None = None,
        mask: Tensor | None = None,
        peephole: Tensor | None = None,
        descriptor: LSTMDescriptor,
        name: str | None = None,
    ) -> Any: ...
    def lstm_gradients(
        self,
        source: Tensor,
        recurrent_weight: Tensor,
        source_gradient: Tensor | None,
        z_state: Tensor,
        cell_output_fwd: Tensor,
        *,
        state_gradient: Tensor | None = None,
        cell_gradient: Tensor | None = None,
        input_weight: Tensor | None = None,
        bias: Tensor | None = None,
        init_state: Tensor | None = None,
        init_cell: Tensor | None = None,
        mask: Tensor | None = None,
        peephole: Tensor | None = None,
        descriptor: LSTMDescriptor,
        name: str | None = None,
    ) -> LSTMGradients[Tensor]: ...
    def single_gate_rnn(
        self,
        source: Tensor,
        recurrent_weight: Tensor,
        *,
        input_weight: Tensor | None = None,
        bias: Tensor | None = None,
        init_state: Tensor | None = None,
        mask: Tensor | None = None,
        descriptor: SingleGateRNNDescriptor,
        name: str | None = None,
    ) -> Any: ...
    def single_gate_rnn_gradients(
        self,
        source: Tensor,
        recurrent_weight: Tensor,
        source_gradient: Tensor | None,
        z_state: Tensor,
        *,
        state_gradient: Tensor | None = None,
        input_weight: Tensor | None = None,
        bias: Tensor | None = None,
        init_state: Tensor | None = None,
        mask: Tensor | None = None,
        descriptor: SingleGateRNNDescriptor,
        name: str | None = None,
    ) -> SingleGateRNNGradients[Tensor]: ...
    def matrix_multiplication(self, primary: Tensor, secondary: Tensor, *, name: str | None = None) -> Tensor: ...
    def absolute(self, tensor: Tensor, *, name: str | None = None) -> Tensor: ...
    def exponent(self, tensor: Tensor, *, name: str | None = None) -> Tensor: ...
    def identity(self, tensor: Tensor, *, name: str | None = None) -> Tensor: ...
    def logarithm(self, tensor: Tensor, *, name: str | None = None) -> Tensor: ...
    def negative(self, tensor: Tensor, *, name: str | None = None) -> Tensor: ...
    def reciprocal(self, tensor: Tensor, *, name: str | None = None) -> Tensor: ...
    def square(self, tensor: Tensor, *, name: str | None = None) -> Tensor: ...
    def square_root(self, tensor: Tensor, *, name: str | None = None) -> Tensor: ...
    def tanh(self, tensor: Tensor, *, name: str | None = None) -> Tensor: ...
    def addition(self, primary: Tensor, secondary: Tensor, *, name: str | None = None) -> Tensor: ...
    def subtraction(self, primary: Tensor, secondary: Tensor, *, name: str | None = None) -> Tensor: ...
    def multiplication(self, primary: Tensor, secondary: Tensor, *, name: str | None = None) -> Tensor: ...
    def division(self, primary: Tensor, secondary: Tensor, *, name: str | None = None) -> Tensor: ...
    def maximum(self, primary: Tensor, secondary: Tensor, *, name: str | None = None) -> Tensor: ...
    def minimum(self, primary: Tensor, secondary: Tensor, *, name: str | None = None) -> Tensor: ...
    def equal(self, primary: Tensor, secondary: Tensor, *, name: str | None = None) -> Tensor: ...
    def not_equal(self, primary: Tensor, secondary: Tensor, *, name: str | None = None) -> Tensor: ...
    def less_than(self, primary: Tensor, secondary: Tensor, *, name: str | None = None) -> Tensor: ...
    def less_than_or_equal_to(self, primary: Tensor, secondary: Tensor, *, name: str | None = None) -> Tensor: ...
    def greater_than(self, primary: Tensor, secondary: Tensor, *, name: str | None = None) -> Tensor: ...
    def greater_than_or_equal_to(self, primary: Tensor, secondary: Tensor, *, name: str | None = None) -> Tensor: ...
    def select(
        self, predicate: Tensor, true_value: Tensor, false_value: Tensor, *, name: str | None = None
    ) -> Tensor: ...
    def relu(self, tensor: Tensor, *, name: str | None = None) -> Tensor: ...
    def relu_gradient(self, incoming_gradient: Tensor, source: Tensor, *, name: str | None = None) -> Tensor: ...
    def sigmoid(self, tensor: Tensor, *, name: str | None = None) -> Tensor: ...
    def sigmoid_gradient(self, incoming_gradient: Tensor, source: Tensor, *, name: str | None = None) -> Tensor: ...
    def softmax(self, tensor: Tensor, *, axis: SupportsIndex, name: str | None = None) -> Tensor: ...
    def softmax_gradient(
        self, incoming_gradient: Tensor, source: Tensor, *, axis: SupportsIndex, name: str | None = None
    ) -> Tensor: ...
    def reduction_arg_maximum(self, tensor: Tensor, *, axis: SupportsIndex, name: str | None = None) -> Tensor: ...
    def reduction_arg_minimum(self, tensor: Tensor, *, axis: SupportsIndex, name: str | None = None) -> Tensor: ...
    def reduction_maximum(
        self, tensor: Tensor, *, axes: Axes | Tensor = None, axis: SupportsIndex | None = None, name: str | None = None
    ) -> Tensor: ...
    def reduction_minimum(
        self, tensor: Tensor, *, axes: Axes | Tensor = None, axis: SupportsIndex | None = None, name: str | None = None
    ) -> Tensor: ...
    def reduction_product(
        self, tensor: Tensor, *, axes: Axes | Tensor = None, axis: SupportsIndex | None = None, name: str | None = None
    ) -> Tensor: ...
    def reduction_sum(
        self, tensor: Tensor, *, axes: Axes | Tensor = None, axis: SupportsIndex | None = None, name: str | None = None
    ) -> Tensor: ...
    def mean(self, tensor: Tensor, *, axes: Axes | Tensor = None, name: str | None = None) -> Tensor: ...
    def broadcast(self, tensor: Tensor, *, shape: Integers | Tensor, name: str | None = None) -> Tensor: ...
    def cast(self, tensor: Tensor, *, dtype: DTypeLike, name: str | None = None) -> Tensor: ...
    def reshape(self, tensor: Tensor, *, shape: Integers | Tensor, name: str | None = None) -> Tensor: ...
    def slice(
        self,
        tensor: Tensor,
        *,
        starts: Integers | Tensor | None = None,
        ends: Integers | Tensor | None = None,
        strides: Integers | Tensor | None = None,
        dimension: SupportsIndex | None = None,
        start: SupportsIndex | None = None,
        length: SupportsIndex | None = None,
        name: str | None = None,
    ) -> Tensor: ...
    def slice_gradient(
        self,
        input_gradient: Tensor,
        *,
        fwd_in_shape: Integers | Tensor,
        starts: Integers | Tensor,
        ends: Integers | Tensor,
        strides: Integers | Tensor | None = None,
        name: str | None = None,
    ) -> Tensor: ...
    def transpose(
        self,
        tensor: Tensor,
        *,
        permutation: Integers | Tensor | None = None,
        dimension: SupportsIndex | None = None,
        with_dimension: SupportsIndex | None = None,
        name: str | None = None,
    ) -> Tensor: ...
    def softmax_cross_entropy(
        self,
        source: Tensor,
        labels: Tensor,
        *,
        axis: SupportsIndex,
        reduction_type: LossReductionType | LossReductionTypeName = "None",
        name: str | None = None,
    ) -> Tensor: ...
    def softmax_cross_entropy_gradient(
        self,
        incoming_gradient: Tensor,
        source: Tensor,
        labels: Tensor,
        *,
        axis: SupportsIndex,
        reduction_type: LossReductionType | LossReductionTypeName = "None",
        name: str | None = None,
    ) -> Tensor: ...
    def stochastic_gradient_descent(
        self, learning_rate: Tensor, values: Tensor, gradient: Tensor, *, name: str | None = None
    ) -> Tensor: ...
