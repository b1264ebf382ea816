/** Views with an id in the address: `/dashboard/verifications/vs_…`. */
export const VIEWS_WITH_PARTS = ['verifications', 'templates', 'template-editor', 'webhooks', 'settings'] as const
