import { z } from "zod";

const emailMessage = "Please enter a valid email address.";
/** text @ text . text, as the specification has it: the confirmation mail is the real test. */
const emailShape = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

function email(requiredMessage = emailMessage) {
  return z.string().trim().toLowerCase().min(1, requiredMessage).regex(emailShape, emailMessage);
}

export const signInSchema = z.object({
  email: email(),
  password: z
    .string()
    .min(1, "Please enter your password.")
    .min(8, "Password must be at least 8 characters long."),
});
export type SignInValues = z.infer<typeof signInSchema>;

export const signUpSchema = z.object({
  fullName: z
    .string()
    .trim()
    .min(1, "Please enter your full name.")
    .max(120, "Full name is too long."),
  username: z
    .string()
    .trim()
    .min(1, "Please choose a username for your profile.")
    .min(3, "Username must be between 3 and 50 characters.")
    .max(50, "Username must be between 3 and 50 characters.")
    .regex(
      /^[A-Za-z0-9_][A-Za-z0-9._-]*$/,
      "Use letters, numbers, dots, dashes and underscores only.",
    ),
  email: email(),
  password: z
    .string()
    .min(1, "Please enter your password.")
    .min(8, "Password must be at least 8 characters long.")
    .max(72, "Password cannot be longer than 72 characters."),
});
export type SignUpValues = z.infer<typeof signUpSchema>;

export const forgotPasswordSchema = z.object({ email: email("Please enter your email address.") });
export type ForgotPasswordValues = z.infer<typeof forgotPasswordSchema>;

export const resetPasswordSchema = z
  .object({
    password: z
      .string()
      .min(8, "Password must be at least 8 characters.")
      .max(72, "Password cannot be longer than 72 characters.")
      .refine(
        (password) => /[a-z]/.test(password) && /[A-Z]/.test(password) && /\d/.test(password),
        "Password must be at least 8 characters with uppercase, lowercase, and numbers.",
      ),
    confirmation: z.string(),
  })
  .refine(({ password, confirmation }) => password === confirmation, {
    path: ["confirmation"],
    message: "Passwords do not match",
  });
export type ResetPasswordValues = z.infer<typeof resetPasswordSchema>;
