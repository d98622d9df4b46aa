export const key = "learn";
export const build = () => [];
export function update() {}
export function startLearn() {}
