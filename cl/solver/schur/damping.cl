// damping: computes an element of a diagonal, with its damping.
// Host: src/solver/schur/system.rs
//
//   in      floors[floored]         one floor for each coordinate of a block; none if floored is 0
//
// The result is x + (scale * max(x, floor) + shift). If the floor is INFINITY, which means that the
// coordinate does not change, the result is 1.
ARITHMETIC damped(ARITHMETIC value, ARITHMETIC scale, ARITHMETIC shift, global const ELEMENT* restrict floors,
                  uint floored, uint coordinate)
{
    ARITHMETIC least = value;
    if (floored > 0) {
        const ARITHMETIC floor = floors[coordinate];
        if (floor == INFINITY)
            return 1;
        least = value < floor ? floor : value;
    }
    return value + (scale * least + shift);
}
