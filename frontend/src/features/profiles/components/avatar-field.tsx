import { Button } from "@ui/button";
import { Suspense, useRef, useState } from "react";
import { Avatar } from "@/components/ui/avatar";
import { Progress } from "@/components/ui/progress";
import { initialsOf } from "@/lib/format";
import { lazyPart } from "@/lib/lazy-part";
import type { Profile } from "@/lib/session";
import { toast } from "@/lib/toast";
import { useRemoveAvatar, useUploadAvatar } from "../api/change-avatar";
import { toastProfileError } from "../api/profile-error";

const AvatarCropDialog = lazyPart(
  async () => ({
    default: (await import("./avatar-crop-dialog")).AvatarCropDialog,
  }),
  "overlay",
);

/** Larger files are refused before they are read: phones run out of memory with them. */
const maxBytes = 10 * 1024 * 1024;

interface AvatarFieldProps {
  profile: Profile;
  email: string | undefined;
}

/** The avatar with its buttons. A new picture is cropped first and saved immediately, independently of the form around it. */
export function AvatarField({ profile, email }: AvatarFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  const [chosen, setChosen] = useState<File | null>(null);
  const [sent, setSent] = useState(0);
  const upload = useUploadAvatar(profile);
  const remove = useRemoveAvatar(profile);

  function choose(file: File | undefined) {
    if (file === undefined) return;
    if (!file.type.startsWith("image/")) {
      toast("Invalid File", "Please upload an image file.", "danger");
    } else if (file.size > maxBytes) {
      toast("Invalid File", "File size must be less than 10MB", "danger");
    } else {
      setChosen(file);
    }
  }

  function save(file: File) {
    setChosen(null);
    setSent(0);
    upload.mutate(
      { file, onProgress: setSent },
      {
        onSuccess: () =>
          toast("Profile updated", "Your profile has been updated successfully.", "success"),
        onError: toastProfileError,
      },
    );
  }

  return (
    <div className="flex items-center gap-5 max-sm:gap-4">
      <Avatar
        key={profile.avatar_url}
        src={profile.avatar_url}
        initials={initialsOf(profile.username, email)}
        size="lg"
      />
      <div className="flex min-w-0 flex-1 flex-col gap-2">
        <p className="font-medium text-small">Avatar</p>
        {upload.isPending ? (
          <Progress label="Uploading your avatar" value={sent} />
        ) : (
          <div className="flex flex-wrap gap-2">
            <Button className="max-sm:px-4" onClick={() => input.current?.click()}>
              {profile.avatar_url === null ? "Upload picture" : "Change picture"}
            </Button>
            {profile.avatar_url !== null && (
              <Button
                variant="quiet"
                className="max-sm:px-3"
                pending={remove.isPending}
                onClick={() =>
                  remove.mutate(undefined, {
                    onSuccess: () => toast("Picture removed"),
                    onError: toastProfileError,
                  })
                }
              >
                Remove
              </Button>
            )}
          </div>
        )}
      </div>
      <input
        ref={input}
        type="file"
        accept="image/*"
        hidden
        aria-label="Picture file of your avatar"
        onChange={(event) => {
          choose(event.target.files?.[0]);
          // Lets the same file be chosen again.
          event.target.value = "";
        }}
      />
      {chosen !== null && (
        <Suspense>
          <AvatarCropDialog file={chosen} onCrop={save} onClose={() => setChosen(null)} />
        </Suspense>
      )}
    </div>
  );
}
