// damping: an element of a diagonal, with its damping.
// Host: src/solver/schur/system.rs
//
//   in      floors[floored]         one for each coordinate of a block; none if floored is 0
//
// x + (scale * max(x, floor) + shift). A floor of INFINITY holds the coordinate: 1 replaces x.
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
