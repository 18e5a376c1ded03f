import { useQuery } from "@tanstack/react-query";
import { LoadingPage } from "@ui/spinner";
import { useMediaQuery } from "@ui/use-media-query";
import { type ReactNode, Suspense, useEffect, useState } from "react";
import { Navigate, useLocation, useNavigate, useSearchParams } from "react-router";
import { Wordmark } from "@/app/shell/wordmark";
import { Slideshow } from "@/components/slideshow";
import * as Tabs from "@/components/ui/tabs";
import { providersQuery, returnStateOfProvider } from "@/features/auth/api/providers";
import { ForgotPasswordForm } from "@/features/auth/components/forgot-password-form";
import { ProviderButtons } from "@/features/auth/components/provider-buttons";
import { ResetPasswordForm } from "@/features/auth/components/reset-password-form";
import { SignInForm } from "@/features/auth/components/sign-in-form";
import { SignUpForm } from "@/features/auth/components/sign-up-form";
import { latestOutfitsQuery } from "@/features/outfits/api/list-latest-outfits";
import { isRecoveringPassword } from "@/lib/auth-callback";
import { lazyPart } from "@/lib/lazy-part";
import { paths, returnPath } from "@/lib/paths";
import { pageTitle, product } from "@/lib/product";
import { useSession } from "@/lib/session";
import { loadAuth } from "@/lib/supabase";
import { usePageTheme } from "@/lib/theme";
import { useSite } from "@/lib/use-site";

const ConfirmMail = lazyPart(async () => ({
  default: (await import("@/features/auth/components/confirm-mail")).ConfirmMail,
}));

type Mode = "login" | "signup" | "forgot-password" | "reset-password";

function readMode(params: URLSearchParams, recovering: boolean): Mode {
  if (recovering) return "reset-password";
  if (params.get("reset") === "true") return "forgot-password";
  return params.get("mode") === "signup" ? "signup" : "login";
}

/** Where a new account begins: with a name, a picture and styles, unless the sign-up was needed for a page. */
function firstPage(back: string): string {
  return back === paths.explore ? paths.welcome : back;
}

function hasProviderButtons(mode: Mode): boolean {
  return mode === "login" || mode === "signup";
}

/** Sign-in, sign-up, and both steps of resetting a password. The address decides which form is shown. */
export function Auth() {
  usePageTheme("light");
  // Hidden by CSS only, the slideshow would still load its pictures on phones.
  const isWide = useMediaQuery("(min-width: 64rem)");
  const { user, isLoading } = useSession();
  const [params] = useSearchParams();
  const location = useLocation();
  const recovering = isRecoveringPassword() && (isLoading || user !== null);
  const mode = readMode(params, recovering);
  const areProvidersKnown = useProvidersOrTimeout();
  const isReady = !isLoading && (areProvidersKnown || !hasProviderButtons(mode));

  if (user !== null && mode !== "reset-password") {
    // AuthCallbackNotice replaces this address meanwhile, which would cancel the redirect; the new key repeats it.
    const address = `${location.key}${location.hash}`;
    const back = returnPath(location.state ?? returnStateOfProvider());
    return <Navigate key={address} to={mode === "signup" ? firstPage(back) : back} replace />;
  }
  return (
    <div className="grid min-h-dvh bg-canvas text-ink lg:grid-cols-[minmax(0,1.05fr)_minmax(0,1fr)]">
      {isWide && <Showcase />}
      {/* The client is loaded while somebody fills in the form, not before. */}
      <main
        onFocus={() => void loadAuth().catch(() => undefined)}
        className="flex flex-col px-5 py-4 sm:px-10 lg:px-16 lg:py-8"
      >
        <Wordmark className="lg:hidden" />
        <div className="mx-auto flex w-full max-w-md flex-1 flex-col justify-center py-8">
          {isReady ? <AuthForms mode={mode} /> : <LoadingPage />}
        </div>
      </main>
    </div>
  );
}

/** Longest time for which the form waits for the providers, in milliseconds. */
const longestProviderWaitMs = 1000;

/** Whether the form can be shown: the providers' buttons, which make it higher, are known, or take too long. */
function useProvidersOrTimeout(): boolean {
  const { isPending } = useQuery(providersQuery());
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = window.setTimeout(() => setLate(true), longestProviderWaitMs);
    return () => window.clearTimeout(timer);
  }, []);
  return !isPending || isLate;
}

function AuthForms({ mode }: { mode: Mode }) {
  const navigate = useNavigate();
  const location = useLocation();
  const [confirmationSentTo, setConfirmationSentTo] = useState<string | null>(null);
  const back = returnPath(location.state ?? returnStateOfProvider());
  const first = firstPage(back);
  const { registrationOpen } = useSite();

  function showForm(next: Mode) {
    const search = { login: "", signup: "?mode=signup", "forgot-password": "?reset=true" };
    if (next === "reset-password") return;
    navigate(`${paths.auth}${search[next]}`, { replace: true, state: location.state });
  }

  if (mode === "reset-password") {
    return (
      <Panel title="Create a new password" text="It replaces the old one on all your devices.">
        <ResetPasswordForm onDone={() => navigate(paths.auth, { replace: true })} />
      </Panel>
    );
  }
  if (mode === "forgot-password") {
    return (
      <Panel
        title="Forgot password?"
        text="Tell us your email address, and we send you a link to set a new one."
      >
        <ForgotPasswordForm onBack={() => showForm("login")} />
      </Panel>
    );
  }
  if (confirmationSentTo !== null) {
    return (
      <Panel
        title="One more step"
        text={`We sent a confirmation link to ${confirmationSentTo}. Open it on this device, and you are in.`}
      >
        <Suspense fallback={<LoadingPage />}>
          <ConfirmMail
            email={confirmationSentTo}
            returnPath={first}
            onBack={() => setConfirmationSentTo(null)}
          />
        </Suspense>
      </Panel>
    );
  }
  return (
    <Panel title={mode === "login" ? "Sign In" : "Create Account"} text={product.promise}>
      <Tabs.Root
        value={mode}
        onValueChange={(value) => showForm(value === "signup" ? "signup" : "login")}
      >
        <Tabs.List
          aria-label="Log in or sign up"
          className="mb-7 grid grid-cols-2 rounded-full border border-line bg-surface p-1"
        >
          <AuthTab value="login">Log In</AuthTab>
          <AuthTab value="signup">Sign Up</AuthTab>
        </Tabs.List>
        <ProviderButtons returnPath={mode === "signup" ? first : back} />
        <Tabs.Content value="login" className="outline-none" tabIndex={-1}>
          <SignInForm
            onForgotPassword={() => showForm("forgot-password")}
            onUnconfirmed={setConfirmationSentTo}
            onSignedIn={() => navigate(back, { replace: true })}
          />
        </Tabs.Content>
        <Tabs.Content value="signup" className="outline-none" tabIndex={-1}>
          {registrationOpen ? (
            <SignUpForm
              returnPath={first}
              onSignedIn={() => navigate(first, { replace: true })}
              onConfirmationSent={setConfirmationSentTo}
            />
          ) : (
            <p role="status" className="text-ink-soft">
              Registration is closed at the moment. If you have an account, you can log in.
            </p>
          )}
        </Tabs.Content>
      </Tabs.Root>
    </Panel>
  );
}

function AuthTab({ value, children }: { value: string; children: ReactNode }) {
  return (
    <Tabs.Trigger
      value={value}
      className="h-11 rounded-full font-medium text-ink-soft text-small transition-colors hover:text-ink data-[state=active]:bg-ink data-[state=active]:text-canvas"
    >
      {children}
    </Tabs.Trigger>
  );
}

function Panel({ title, text, children }: { title: string; text: string; children: ReactNode }) {
  return (
    <>
      <title>{pageTitle(title)}</title>
      <h1 className="font-serif text-title">{title}</h1>
      <p className="mt-3 mb-8 text-ink-soft">{text}</p>
      {children}
    </>
  );
}

/** Left side of the page on wide screens: a slideshow of the newest outfits. */
function Showcase() {
  const { data: outfits = [] } = useQuery(latestOutfitsQuery(6));
  const slides = outfits.map((outfit) => ({
    key: outfit.id,
    url: outfit.main_image,
    alt: outfit.image_alt ?? outfit.name,
  }));
  return (
    <aside
      data-theme="dark"
      className="sticky top-0 flex h-dvh flex-col overflow-hidden bg-canvas pt-6 pb-12 pl-12 text-ink"
    >
      <Wordmark className="self-start" />
      <div className="my-8 min-h-0 flex-1" style={{ containerType: "size" }}>
        {slides.length > 0 && <Slideshow slides={slides} label="Newest outfits" />}
      </div>
      <div className="pr-12">
        <p className="text-balance font-serif text-display">{product.claim}</p>
        <p className="mt-4 text-ink-soft">{product.offer}</p>
      </div>
    </aside>
  );
}
