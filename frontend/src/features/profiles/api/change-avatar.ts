import { useMutation } from "@tanstack/react-query";
import { pictureEndings } from "@/lib/picture-file";
import { uniqueFileName, uploadResumably } from "@/lib/resumable-upload";
import { isUnreachable } from "@/lib/service-error";
import type { Profile } from "@/lib/session";
import { useStoreProfile, writeVersion } from "./update-profile";

const bucket = "avatars";
const publicPath = `/storage/v1/object/public/${bucket}/`;

interface AvatarUpload {
  file: File;
  onProgress: (sent: number) => void;
}

/** Removes an avatar's file, unless it is elsewhere: at an identity provider, or among the demo pictures. */
async function removeFile(profileId: string, url: string | null): Promise<void> {
  if (url === null || !url.startsWith(`${publicPath}${profileId}/`)) return;
  await (await import("@/lib/storage")).storage.from(bucket).remove([url.slice(publicPath.length)]);
}

/** Changes the picture, unless another device has changed it since this page has read the profile. */
function writeAvatar(known: Profile, url: string | null, onOther: (present: Profile) => void) {
  return writeVersion(known, { avatar_url: url }, (present) => {
    if (present.avatar_url === known.avatar_url) return;
    onOther(present);
    throw new Error("Your picture was changed elsewhere.");
  });
}

/** Uploads a cropped picture and makes it the avatar. The former file is removed; the new one if the profile refuses it. */
export function useUploadAvatar(profile: Profile) {
  const storeProfile = useStoreProfile();
  return useMutation({
    mutationFn: async ({ file, onProgress }: AvatarUpload) => {
      const extension = pictureEndings[file.type] ?? "webp";
      const name = await uploadResumably({
        owner: profile.id,
        file,
        bucket,
        objectName: `${profile.id}/${uniqueFileName(extension)}`,
        place: `avatar:${profile.id}`,
        contentType: file.type,
        onProgress,
      });
      const url = `${publicPath}${name}`;
      try {
        return await writeAvatar(profile, url, storeProfile);
      } catch (error) {
        // Where the answer alone was lost the profile may have it.
        if (!isUnreachable(error)) await removeFile(profile.id, url);
        throw error;
      }
    },
    onSuccess: (saved) => {
      void storeProfile(saved);
      void removeFile(profile.id, profile.avatar_url);
    },
  });
}

/** Takes the avatar away: initials are shown in its place. */
export function useRemoveAvatar(profile: Profile) {
  const storeProfile = useStoreProfile();
  return useMutation({
    mutationFn: () => writeAvatar(profile, null, storeProfile),
    onSuccess: (saved) => {
      void storeProfile(saved);
      void removeFile(profile.id, profile.avatar_url);
    },
  });
}
