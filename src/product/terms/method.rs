//! Methods: the list of all methods.
use crate::named::named;

/// The list of methods: variant, name, documentation. [`Esc`](crate::product::esc::Esc) compiles
/// the methods under `columns`. [`Adaptive`](crate::product::columns::adaptive::Adaptive) compiles
/// those under `scalars`, which add each product at once. On CPUs
/// [`Ranged`](crate::product::cpu::ranges::Ranged) compiles `Dense` and `Direct`. The methods under
/// `mask` are compiled with their masks. The host needs no kernels.
macro_rules! methods {
    (
        columns { $( $method:ident = $name:literal, $doc:literal, )+ }
        scalars { $( $scalar:ident = $scalar_name:literal, $scalar_doc:literal, )+ }
        host { $( $host:ident = $host_name:literal, $host_doc:literal, )+ }
        mask { $( $masked:ident = $masked_name:literal, $masked_doc:literal, )+ }
    ) => {
        /// A method that computes a product.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
        #[serde(rename_all = "kebab-case")]
        #[non_exhaustive]
        pub enum Method {
            /// Chooses for each column the method that is predicted to be fastest.
            #[default]
            Auto,
            $( #[doc = $doc] $method, )+
            $( #[doc = $scalar_doc] $scalar, )+
            $( #[doc = $host_doc] $host, )+
            $( #[doc = $masked_doc] $masked, )+
        }

        impl Method {
            /// Every method except `Auto`.
            pub const ALL: &[Self] = &[$( Self::$method, )+ $( Self::$scalar, )+ $( Self::$host, )+ $( Self::$masked, )+];

            /// Whether the method computes only products that have a mask.
            pub fn needs_mask(self) -> bool {
                matches!(self, $( Self::$masked )|+)
            }

            /// The method's name in the command and in the report.
            pub fn name(self) -> &'static str {
                match self {
                    Self::Auto => "auto",
                    $( Self::$method => $name, )+
                    $( Self::$scalar => $scalar_name, )+
                    $( Self::$host => $host_name, )+
                    $( Self::$masked => $masked_name, )+
                }
            }

            /// The method's name in the table of costs. In the table the two variants of ESC have
            /// the same name.
            pub(crate) fn cost_name(self) -> &'static str {
                if self == Self::EscLocal { Self::Esc.name() } else { self.name() }
            }

            /// The number of the bin of the method in a plan: see
            /// [`Work::counted`](crate::device::Work::counted).
            pub(crate) fn number(self) -> u64 {
                self as u64
            }

            /// Whether the method computes columns of scalars and adds each product at once.
            pub(crate) fn is_of_scalars(self) -> bool {
                matches!(self, $( Self::$scalar )|+)
            }
        }
    };
}

methods! {
    columns {
        Esc = "esc", "Blockwise expand, sort, compress (Polok 2015), in global memory.",
        EscLocal = "esc-local", "Method `esc` with expansion and sort in local memory, for GPUs.",
    }
    scalars {
        Direct = "direct", "Copies and scales a column of A for each column of B that has one entry. It multiplies scalars; `auto` does the same with blocks on CPUs.",
        Sort = "sort", "Sorts columns of at most 3584 products in registers. It multiplies scalars, and blocks if local memory has room for the products of every column (2048 in 48 KiB).",
        Dense = "dense", "Finds the rows of a column by a bitmap, and adds products to a slot for each row. It multiplies scalars, and blocks on CPUs.",
        Hub = "hub", "Method `dense` for columns of many entries: sorts the products of several entries before it adds them. It multiplies scalars.",
        Hash = "hash", "Finds the rows of a column by a hash table and their slots by another, in any range of rows. It multiplies scalars.",
    }
    host {
        Host = "host", "Multiplies on the host's cores, between the device's arrays.",
    }
    mask {
        Masked = "masked", "Looks products up from the places of a mask. It computes every product that has a mask, and no others.",
    }
}

named!(Method, "method", &[Method::Auto], Method::ALL);
