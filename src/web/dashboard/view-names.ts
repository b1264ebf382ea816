/** Views in which one thing can be named too: `/dashboard/verifications/vs_…`. */
export const VIEWS_WITH_PARTS = ['verifications', 'templates', 'template-editor', 'webhooks', 'settings'] as const
