export const webPages = {
  origins: 'Web pages that ask wallets',
  originsMore: (environment: string) =>
    `Pages at these addresses may ask for a wallet with <vidimus-verify>, in ${environment}. Wallets show the address to the customer. The pages of this service need no entry.`,
  originsCaption: 'Listed addresses',
  originsNone: 'No address is listed.',
  origin: 'Address',
  originHint: 'Such as https://shop.example, without a path or a slash at its end.',
  originProblem: 'Write it as https://shop.example, without a path. Plain http works for localhost only.',
  originAdd: 'Add address',
  originAdded: 'Added',
  originRemove: 'Remove',
  originRemoveTitle: (origin: string) => `Remove ${origin}?`,
  originRemoveMore: 'Its pages can no longer ask. Checks that have begun there can still be completed.',
  originRemoveDo: 'Remove address',
  apps: 'Apps',
  appsMore:
    'After a check, redirect_url may lead back into your app. A scheme with a dot, such as com.example.shop, always works. List others here.',
  appSchemes: 'Schemes of your apps',
  appSchemesHint: 'Separated by commas, such as shop-app. Empty for none.',
}
