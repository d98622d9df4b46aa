//! How numbers are shown to people.

/// 1234567 as 1,234,567.
///
/// ```
/// assert_eq!(doushouqi::text::grouped(1_234_567), "1,234,567");
/// ```
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
