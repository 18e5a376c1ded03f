//! actix's runtime for tests.

use std::pin::Pin;

use actix_web::rt;

/// Runs a test like the runtime of `#[actix_web::test]`. The test's future is boxed, because tokio's loop is compiled anew for each type
/// of future: for a few hundred tests, that is a quarter of the time which their program takes to compile. A test names it in its attribute:
/// `#[actix_web::rt::test(system = "selvedge_testing::System")]`.
#[derive(Debug)]
pub struct System(rt::SystemRunner);

impl System {
    /// Makes a runtime for this thread. The attribute expands to a call of `new`, so it cannot have another name.
    #[expect(clippy::new_without_default, reason = "only the attribute calls it")]
    pub fn new() -> Self {
        Self(rt::System::new())
    }

    /// Runs a test to its end.
    pub fn block_on<T>(&self, test: impl Future<Output = T>) -> T {
        let test: Pin<Box<dyn Future<Output = T> + '_>> = Box::pin(test);
        self.0.block_on(test)
    }
}
