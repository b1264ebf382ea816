<?php
// Stands in for WordPress and WooCommerce, for the plug-in and nothing else: the functions that it calls, with the behaviour
// that their documentation and sources (WordPress 6.5, WooCommerce 9.5) give them, on one file of state. Neither of the two is
// in here, so it shows that the plug-in does what it should when it is called as they say; not that they call it so.
declare(strict_types=1);

define('ABSPATH', __DIR__ . '/');
define('HOUR_IN_SECONDS', 3600);
define('PLUGIN_DIR', __DIR__ . '/wp-content/plugins/vidimus-for-woocommerce');

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
$state = json_decode((string) @file_get_contents(getenv('STATE')), true)
    ?: ['options' => [], 'transients' => [], 'sessions' => [], 'orders' => [], 'cron' => [], 'log' => [], 'locale' => 'en_US'];
register_shutdown_function(function (): void { file_put_contents(getenv('STATE'), json_encode($GLOBALS['state'])); });

// Hooks.
$hooks = [];
function add_filter(string $name, callable $callback, int $priority = 10, int $count = 1): void { $GLOBALS['hooks'][$name][$priority][] = [$callback, $count]; }
function add_action(string $name, callable $callback, int $priority = 10, int $count = 1): void { add_filter($name, $callback, $priority, $count); }
function do_action(string $name, mixed ...$args): void
{
    ksort($GLOBALS['hooks'][$name]);
    foreach (array_merge(...$GLOBALS['hooks'][$name]) as [$callback, $count]) $callback(...array_slice($args, 0, $count));
}
function apply_filters(string $name, mixed $value, mixed ...$args): mixed
{
    foreach (array_merge(...($GLOBALS['hooks'][$name] ?? [])) as [$callback, $count]) $value = $callback($value, ...array_slice($args, 0, $count - 1));
    return $value;
}

// Texts. The .mo file is read here, as it stands in the zip.
$texts = [];
function plugin_basename(string $file): string { return basename(dirname($file)) . '/' . basename($file); }
function load_plugin_textdomain(string $domain, bool $deprecated, string $dir): void
{
    $mo = @file_get_contents(__DIR__ . "/wp-content/plugins/$dir/$domain-{$GLOBALS['state']['locale']}.mo");
    if ($mo === false) return;
    ['count' => $count, 'ids' => $ids, 'texts' => $texts] = unpack('Vmagic/Vrevision/Vcount/Vids/Vtexts', $mo);
    $read = function (int $table, int $index) use ($mo): string { [, $length, $offset] = unpack('V2', $mo, $table + 8 * $index); return substr($mo, $offset, $length); };
    for ($i = 0; $i < $count; $i++) $GLOBALS['texts'][$read($ids, $i)] = $read($texts, $i);
}
function __(string $text, string $domain): string { return $GLOBALS['texts'][$text] ?? $text; }
function esc_html(string $text): string { return htmlspecialchars($text, ENT_QUOTES, 'UTF-8', false); }
function esc_attr(string $text): string { return esc_html($text); }
function esc_html__(string $text, string $domain): string { return esc_html(__($text, $domain)); }
function esc_url(string $url): string { return preg_match('#^(https?:|/)#', $url) ? esc_html($url) : ''; }
function esc_url_raw(string $url, array $protocols = ['http', 'https']): string { return in_array(parse_url($url, PHP_URL_SCHEME), $protocols, true) ? preg_replace('/[^\x21-\x7e]|[<>"]/', '', $url) : ''; }
function sanitize_key(string $key): string { return preg_replace('/[^a-z0-9_\-]/', '', strtolower($key)); }
function absint(mixed $value): int { return abs((int) $value); }
function wp_json_encode(mixed $value): string { return json_encode($value, JSON_THROW_ON_ERROR); }
function wp_unslash(mixed $value): mixed { return is_array($value) ? array_map('wp_unslash', $value) : stripslashes($value); }
function slashed(mixed $value): mixed { return is_array($value) ? array_map('slashed', $value) : addslashes($value); }
// WordPress adds slashes to what is sent, as PHP once did.
$_POST = slashed($_POST);
$_GET = slashed($_GET);

// Options, transients, scheduled events.
function get_option(string $name, mixed $default = false): mixed { return $GLOBALS['state']['options'][$name] ?? $default; }
function update_option(string $name, mixed $value, bool $autoload): void { $GLOBALS['state']['options'][$name] = $value; }
function delete_option(string $name): void { unset($GLOBALS['state']['options'][$name]); }
function get_transient(string $name): mixed { [$value, $until] = $GLOBALS['state']['transients'][$name] ?? [false, PHP_INT_MAX]; return $until > time() ? $value : false; }
function set_transient(string $name, mixed $value, int $seconds): void { strlen($name) <= 172 || exit('a name too long'); $GLOBALS['state']['transients'][$name] = [$value, time() + $seconds]; }
function delete_transient(string $name): void { unset($GLOBALS['state']['transients'][$name]); }
function wp_schedule_single_event(int $at, string $hook, array $args): void { $GLOBALS['state']['cron'][] = [$at, $hook, $args]; }
function wp_unschedule_hook(string $hook): void { $GLOBALS['state']['cron'] = []; }
function delete_post_meta_by_key(string $key): void {}

// The visitor.
function current_user_can(string $capability): bool { return $capability === 'manage_woocommerce' && ($_COOKIE['role'] ?? '') === 'shop_manager'; }
function wp_create_nonce(string $action): string { return substr(hash_hmac('sha256', $action, ($_COOKIE['role'] ?? '') . ($_COOKIE['cart'] ?? '')), 0, 10); }
function wp_nonce_field(string $action): void { echo '<input type="hidden" name="_wpnonce" value="' . wp_create_nonce($action) . '">'; }
function refuse_nonce(string $action, mixed $nonce): void { is_string($nonce) && hash_equals(wp_create_nonce($action), $nonce) || wp_die('-1', '', ['response' => 403]); }
function check_ajax_referer(string $action, string $name): void { refuse_nonce($action, $_POST[$name] ?? null); }
function check_admin_referer(string $action): void { refuse_nonce($action, $_POST['_wpnonce'] ?? null); }
function wp_die(string $message, string $title, array $args): void { http_response_code($args['response']); exit($message); }
function wp_send_json_success(mixed $data): void { header('Content-Type: application/json'); exit(json_encode(['success' => true, 'data' => $data])); }
function wp_send_json_error(mixed $data, int $status): void { http_response_code($status); header('Content-Type: application/json'); exit(json_encode(['success' => false])); }
function wp_safe_redirect(string $url): void { header("Location: $url", true, 302); }
function get_user_by(string $field, string $value): false { return false; }

// Addresses and requests.
function home_url(): string { return getenv('SHOP_URL'); }
function admin_url(string $path): string { return home_url() . "/wp-admin/$path"; }
function rest_url(string $path): string { return home_url() . "/wp-json/$path"; }
function plugins_url(string $path, string $file): string { return home_url() . '/wp-content/plugins/' . dirname(plugin_basename($file)) . "/$path"; }
function wc_get_checkout_url(): string { return home_url() . '/checkout'; }
function wp_parse_url(string $url): array { return parse_url($url); }
function add_query_arg(string $name, string $value, string $url): string { return $url . (str_contains($url, '?') ? '&' : '?') . "$name=" . urlencode($value); }
function is_admin(): bool { return str_starts_with($GLOBALS['path'], '/wp-admin/'); }
function wp_get_environment_type(): string { return 'production'; }
$modules = [];
function wp_enqueue_script_module(string $id, string $src, array $deps, ?string $version): void { $GLOBALS['modules'][$id] = $src; }
$routes = [];
function register_rest_route(string $namespace, string $path, array $options): void { $GLOBALS['routes']["/wp-json/$namespace$path"] = $options; }
function __return_true(): bool { return true; }
function wp_remote_post(string $url, array $options): array|false
{
    $headers = array_map(fn ($name, $value) => "$name: $value", array_keys($options['headers']), $options['headers']);
    $context = stream_context_create(['http' => ['method' => 'POST', 'header' => $headers, 'content' => $options['body'], 'timeout' => $options['timeout'], 'ignore_errors' => true]]);
    $body = @file_get_contents($url, false, $context);
    return $body === false ? false : ['status' => (int) explode(' ', $http_response_header[0])[1]];
}
function wp_remote_retrieve_response_code(array|false $answer): int|string { return $answer === false ? '' : $answer['status']; }
$pages = [];
function add_submenu_page(string $parent, string $title, string $menu, string $capability, string $slug, callable $callback): void { $GLOBALS['pages'][$slug] = [$capability, $callback]; }

final class WP_REST_Response { public function __construct(public mixed $data, public int $status) {} }
final class WP_REST_Request
{
    public function get_method(): string { return $_SERVER['REQUEST_METHOD']; }
    public function get_body(): string { return file_get_contents('php://input'); }
    public function get_header(string $name): ?string { return $_SERVER['HTTP_' . strtoupper(strtr($name, '-', '_'))] ?? null; }
}
final class WP_Error { public array $messages = []; public function add(string $code, string $message): void { $this->messages[] = $message; } }

// WooCommerce: product 18 is marked, 19 is a subcategory's of category 5, 7 is neither.
function get_terms(array $query): array { return [(object) ['term_id' => '5', 'name' => 'Wine & more'], (object) ['term_id' => '6', 'name' => 'Glasses']]; }
function wc_get_product_cat_ids(int $product): array { return $product === 19 ? [51, 5] : [6]; }
final class Product { public function __construct(private int $id) {} public function get_meta(string $key): string { return $key === '_vidimus_needs_proof' && $this->id === 18 ? 'yes' : ''; } }
function wc_get_product(int $id): Product { return new Product($id); }
final class Logger { public function error(string $text, array $context): void { $GLOBALS['state']['log'][] = $text; } }
function wc_get_logger(): Logger { return new Logger(); }
final class WC_AJAX { public static function get_endpoint(string $name): string { return "/?wc-ajax=$name"; } }

/** One visitor, found by the cookie. */
final class Session
{
    private array $data;
    public function __construct(private string $name) { $GLOBALS['state']['sessions'][$name] ??= ['products' => []]; $this->data = &$GLOBALS['state']['sessions'][$name]; }
    public function get(string $key): mixed { return $this->data[$key] ?? null; }
    public function set(string $key, mixed $value): void { $this->data[$key] = $value; }
}
final class Cart
{
    public function get_cart(): array { return array_map(fn (int $id) => ['product_id' => $id], WC()->session->get('products')); }
    public function empty_cart(): void { WC()->session->set('products', []); do_action('woocommerce_cart_emptied', true); }
}
final class Shop { public Session $session; public Cart $cart; }
function WC(): Shop
{
    static $shop;
    if (!$shop) {
        $shop = new Shop();
        $shop->session = new Session($_COOKIE['cart'] ?? 'nobody');
        $shop->cart = new Cart();
    }
    return $shop;
}
final class WC_Order
{
    public array $meta = [];
    public function __construct(public int $id, public string $email = '') {}
    public function get_meta(string $key): string { return $this->meta[$key] ?? ''; }
    public function update_meta_data(string $key, string $value): void { $this->meta[$key] = $value; }
    public function delete_meta_data(string $key): void { unset($this->meta[$key]); }
    public function save(): void { $GLOBALS['state']['orders'][$this->id] = ['meta' => $this->meta, 'email' => $this->email]; }
    public function save_meta_data(): void { $this->save(); }
}
function wc_get_order(mixed $id): WC_Order|false
{
    $kept = $GLOBALS['state']['orders'][$id] ?? null;
    if (!$kept) return false;
    $order = new WC_Order($id, $kept['email']);
    $order->meta = $kept['meta'];
    return $order;
}
function wc_get_orders(array $query): array
{
    $ids = array_keys(array_filter($GLOBALS['state']['orders'], fn (array $kept) => in_array($kept['email'], $query['customer'], true)));
    return array_map('wc_get_order', array_slice($ids, ($query['page'] - 1) * $query['limit'], $query['limit']));
}

// In a file of its own: a namespace must not be mixed with this code.
require __DIR__ . '/route-exception.php';
require PLUGIN_DIR . '/vidimus-for-woocommerce.php';
do_action('init');

/** Both ways as WooCommerce goes them. An order that is not refused is paid unless the card is declined; paid, its cart is emptied. */
function place_order(bool $by_block): array
{
    $order = new WC_Order(count($GLOBALS['state']['orders']) + 1, 'buyer@shop.example');
    try {
        if ($by_block) {
            do_action('woocommerce_store_api_checkout_update_order_from_request', $order, new WP_REST_Request());
        } else {
            $errors = new WP_Error();
            // A gateway with a button of its own goes straight to the order.
            if (!isset($_GET['express'])) do_action('woocommerce_after_checkout_validation', [], $errors);
            if ($errors->messages) return ['refused' => $errors->messages[0]];
            do_action('woocommerce_checkout_create_order', $order, []);
        }
    } catch (Exception $error) {
        return ['refused' => $error->getMessage()];
    }
    $order->save();
    if (!isset($_GET['declined'])) WC()->cart->empty_cart();
    return ['order' => $order->id, 'meta' => $order->meta];
}

function show_page(string $html): void
{
    $service = get_option('vidimus_settings', ['url' => ''])['url'];
    header("Content-Security-Policy: default-src 'none'; script-src 'self' $service; connect-src 'self' $service; base-uri 'none'");
    $scripts = implode('', array_map(fn ($src) => '<script type="module" src="' . esc_url($src) . '"></script>', $GLOBALS['modules']));
    $lang = substr($GLOBALS['state']['locale'], 0, 2);
    echo "<!doctype html><html lang=\"$lang\"><meta charset=\"utf-8\"><title>Checkout</title><main><h1>Checkout</h1><form>$html</form></main>$scripts</html>";
}

if ($path === '/checkout') {
    ob_start();
    do_action('woocommerce_checkout_after_customer_details');
    show_page(ob_get_clean());
} elseif ($path === '/checkout-block') {
    show_page(apply_filters('render_block_woocommerce/checkout', '<div class="wp-block-woocommerce-checkout"></div>'));
} elseif ($path === '/wp-content/plugins/vidimus-for-woocommerce/checkout.js') {
    header('Content-Type: text/javascript');
    readfile(PLUGIN_DIR . '/checkout.js');
} elseif (isset($_GET['wc-ajax'])) {
    do_action("wc_ajax_{$_GET['wc-ajax']}");
} elseif (str_starts_with($path, '/wp-json/')) {
    do_action('rest_api_init');
    http_response_code($routes[$path]['callback'](new WP_REST_Request())->status);
} elseif ($path === '/wp-admin/admin-post.php') {
    do_action("admin_post_{$_POST['action']}");
} elseif ($path === '/wp-admin/admin.php') {
    do_action('admin_menu');
    [$capability, $callback] = $pages[$_GET['page']];
    current_user_can($capability) ? $callback() : http_response_code(403);
} elseif ($path === '/test/cart') {
    WC()->session->set('products', array_map('intval', explode(',', $_GET['products'])));
} elseif ($path === '/test/place') {
    echo json_encode(place_order(isset($_GET['block'])));
} elseif ($path === '/test/locale') {
    $state['locale'] = $_GET['locale'];
} elseif ($path === '/test/delete') {
    do_action('woocommerce_before_delete_order', (int) $_GET['order'], wc_get_order((int) $_GET['order']));
    unset($state['orders'][$_GET['order']]);
} elseif ($path === '/test/anonymize') {
    do_action('woocommerce_privacy_remove_order_personal_data', wc_get_order((int) $_GET['order']));
} elseif ($path === '/test/erase') {
    $erasers = apply_filters('wp_privacy_personal_data_erasers', []);
    echo json_encode($erasers['vidimus']['callback']($_GET['email'], 1));
} elseif ($path === '/test/cron') {
    [$due, $state['cron']] = [$state['cron'], []];
    foreach ($due as [, $hook, $args]) do_action($hook, ...$args);
} elseif ($path === '/test/uninstall') {
    define('WP_UNINSTALL_PLUGIN', true);
    require PLUGIN_DIR . '/uninstall.php';
} elseif ($path === '/test/state') {
    echo json_encode($state);
} else {
    http_response_code(404);
}
