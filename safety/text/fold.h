// Fold: the form of a text in which spelling tricks are gone and rules of profile `fold` match.
//
// In this order: control characters that are no white space, and interlinear annotation marks, are
// dropped; NFKC_Casefold of ICU (full case folding, compatibility forms, and all default-ignorable
// characters removed: zero-width space and joiners, soft hyphen, tags, variation selectors, bidi
// controls); U+0307 COMBINING DOT ABOVE directly after "i" is dropped, so that U+0130 and "I" fold
// alike; each run of white space becomes one space. No step asks the locale. Letters that only look
// like others are kept: U+00F8 is not "o".
//
// Text is normalised in pieces cut where a character does not interact with the one before, and at
// the latest after 768 bytes: without a bound, reordering a long run of combining marks takes
// quadratic time. The idea is that of the Stream-Safe Text Format (UAX #15, section 13).
// Sources: Unicode 15.0 section 5.18 and UAX #15, #44 (NFKC_Casefold); SpecialCasing (U+0130).
//
// Threads: pure functions. Blocks: never. Limits: linear time; output at most 12 times the input.
#pragma once

#include <string>
#include <string_view>

namespace han::safety {

// The folded form of `text`, in `buffer`, which is overwritten and should be reused.
// Requires: valid UTF-8; `text` does not view `buffer`.
std::string_view fold(std::string_view text, std::string& buffer);

// "ICU 72.1, Unicode 15.0": part of rules_version, since both change what fold gives.
std::string fold_version();

}  // namespace han::safety
