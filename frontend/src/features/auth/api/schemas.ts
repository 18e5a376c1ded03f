import * as z from "zod/mini";

// zod compiles schemas with `new Function` if it may; the Content-Security-Policy forbids that and reports each attempt.
z.config({ jitless: true });

const emailMessage = "Please enter a valid email address.";
/** The specification requires only text @ text . text; the confirmation mail proves that the address exists. */
const emailShape = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

function email(requiredMessage = emailMessage) {
  return z
    .string()
    .check(
      z.trim(),
      z.toLowerCase(),
      z.minLength(1, requiredMessage),
      z.regex(emailShape, emailMessage),
    );
}

export const signInSchema = z.object({
  email: email(),
  password: z
    .string()
    .check(
      z.minLength(1, "Please enter your password."),
      z.minLength(8, "Password must be at least 8 characters long."),
    ),
});
export type SignInValues = z.infer<typeof signInSchema>;

export const signUpSchema = z.object({
  fullName: z
    .string()
    .check(
      z.trim(),
      z.minLength(1, "Please enter your full name."),
      z.maxLength(120, "Full name is too long."),
    ),
  username: z
    .string()
    .check(
      z.trim(),
      z.minLength(1, "Please choose a username for your profile."),
      z.minLength(3, "Username must be between 3 and 50 characters."),
      z.maxLength(50, "Username must be between 3 and 50 characters."),
      z.regex(
        /^[A-Za-z0-9_][A-Za-z0-9._-]*$/,
        "Use letters, numbers, dots, dashes and underscores only.",
      ),
    ),
  email: email(),
  password: z
    .string()
    .check(
      z.minLength(1, "Please enter your password."),
      z.minLength(8, "Password must be at least 8 characters long."),
      z.maxLength(72, "Password cannot be longer than 72 characters."),
    ),
});
export type SignUpValues = z.infer<typeof signUpSchema>;

export const forgotPasswordSchema = z.object({ email: email("Please enter your email address.") });
export type ForgotPasswordValues = z.infer<typeof forgotPasswordSchema>;

export const resetPasswordSchema = z
  .object({
    password: z.string().check(
      z.minLength(8, "Password must be at least 8 characters."),
      z.maxLength(72, "Password cannot be longer than 72 characters."),
      z.refine(
        (password) => /[a-z]/.test(password) && /[A-Z]/.test(password) && /\d/.test(password),
        "Password must be at least 8 characters with uppercase, lowercase, and numbers.",
      ),
    ),
    confirmation: z.string(),
  })
  .check(
    z.refine(({ password, confirmation }) => password === confirmation, {
      path: ["confirmation"],
      message: "Passwords do not match",
    }),
  );
export type ResetPasswordValues = z.infer<typeof resetPasswordSchema>;
