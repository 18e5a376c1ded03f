/** Shared with the drawing of the first view, so that both break the texts into the same lines. */
export const accountTexts = {
  title: "Your account",
  exportHint:
    "Everything we keep about you as one zip: your profile, outfits, likes, bookmarks, notifications, and the files you uploaded.",
  exportButton: "Download your data",
  signOutHint: "If you have lost a device, or have signed in on one that is not yours.",
  signOutButton: "Sign out everywhere",
  deleteHint:
    "Deleting your account cannot be undone. Download your data first if you want to keep it.",
  deleteButton: "Delete account",
} as const;
