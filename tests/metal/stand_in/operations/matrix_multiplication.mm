#include "support.hpp"

using namespace stand_in;

namespace {

/// Users report that sums of 32,767 products and more take in what lies behind the operands, in large results.
bool overruns(std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  return rows >= 16 && columns >= 16 && depth >= 32767;
}

}  // namespace

@implementation MPSGraph (MPSGraphMatrixMultiplicationOps)
- (MPSGraphTensor*)matrixMultiplicationWithPrimaryTensor:(MPSGraphTensor*)primary
                                         secondaryTensor:(MPSGraphTensor*)secondary
                                                    name:(NSString*)name {
  const Site site{self, "matrixMultiplication"};
  const Dims a = site.shape(primary), b = site.shape(secondary);
  site.require(a.size() >= 2 && b.size() >= 2, "a matrix is of a rank below 2");
  const std::int64_t rows = a[a.size() - 2], depth = a.back(), columns = b.back();
  site.require(b[b.size() - 2] == depth, "the inner dimensions differ");
  Dims leading;
  site.require(broadcast({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2}, leading),
               "the leading dimensions do not broadcast");
  Dims a_shape = leading, b_shape = leading, shape = leading;
  a_shape.insert(a_shape.end(), {rows, depth});
  b_shape.insert(b_shape.end(), {depth, columns});
  shape.insert(shape.end(), {rows, columns});
  return site.add_one({primary, secondary}, {shape, site.floating_type({primary, secondary})}, [=](const Operands& in) {
    const Values x = expanded(in[0], a_shape), y = expanded(in[1], b_shape);
    Values result(static_cast<std::size_t>(count(shape)), overruns(rows, columns, depth) ? 1 : 0);
    for (std::int64_t matrix = 0; matrix < count(leading); ++matrix)
      for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t k = 0; k < depth; ++k) {
          const Value factor = x[static_cast<std::size_t>((matrix * rows + row) * depth + k)];
          const Value* from = &y[static_cast<std::size_t>((matrix * depth + k) * columns)];
          Value* to = &result[static_cast<std::size_t>((matrix * rows + row) * columns)];
          for (std::int64_t column = 0; column < columns; ++column) to[column] += factor * from[column];
        }
    return result;
  });
}
@end
