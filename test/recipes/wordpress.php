<?php
// Stands in for WordPress and WooCommerce, as far as the recipe asks for them: hooks, REST routes, one order that is kept in a file.
declare(strict_types=1);

define('ABSPATH', __DIR__);
foreach (['VIDIMUS_URL', 'VIDIMUS_API_KEY', 'VIDIMUS_WEBHOOK_SECRET'] as $name) {
    define($name, getenv($name));
}

$hooks = [];
$routes = [];

function add_action(string $name, callable $callback): void { add_filter($name, $callback); }
function add_filter(string $name, callable $callback, int $priority = 10, int $count = 1): void { $GLOBALS['hooks'][$name][] = [$callback, $count]; }
function do_action(string $name, mixed ...$args): void { foreach ($GLOBALS['hooks'][$name] ?? [] as [$callback, $count]) $callback(...array_slice($args, 0, $count)); }
function apply_filters(string $name, mixed $value, mixed ...$args): mixed
{
    foreach ($GLOBALS['hooks'][$name] ?? [] as [$callback, $count]) $value = $callback($value, ...array_slice($args, 0, $count - 1));
    return $value;
}
function register_rest_route(string $namespace, string $path, array $options): void { $GLOBALS['routes']["/wp-json/$namespace$path"] = $options; }
function rest_url(string $path): string { return getenv('SHOP_URL') . "/wp-json/$path"; }
function __return_true(): bool { return true; }
function esc_html(string $text): string { return htmlspecialchars($text, ENT_QUOTES); }
function esc_url(string $url): string { return htmlspecialchars($url, ENT_QUOTES); }
function wp_json_encode(mixed $value, int $flags = 0): string { return json_encode($value, $flags | JSON_THROW_ON_ERROR); }
function has_term(string $term, string $taxonomy, int $product): bool { return $term === '18plus' && $taxonomy === 'product_tag' && $product === 18; }
function is_wp_error(mixed $value): bool { return $value === false; }
function wp_remote_retrieve_response_code(array $answer): int { return $answer['status']; }
function wp_remote_retrieve_body(array $answer): string { return $answer['body']; }
function wp_remote_request(string $url, array $options): array|false
{
    $headers = array_map(fn ($name, $value) => "$name: $value", array_keys($options['headers']), $options['headers']);
    $context = stream_context_create(['http' => [
        'method' => $options['method'],
        'header' => $headers,
        'content' => (string) $options['body'],
        'timeout' => $options['timeout'],
        'follow_location' => $options['redirection'],
        'ignore_errors' => true,
    ]]);
    $body = @file_get_contents($url, false, $context);
    return $body === false ? false : ['status' => (int) explode(' ', $http_response_header[0])[1], 'body' => $body];
}

final class WP_REST_Response
{
    public function __construct(public mixed $data, public int $status) {}
}

final class WP_REST_Request
{
    public function get_body(): string { return file_get_contents('php://input'); }
    public function get_json_params(): ?array { return json_decode($this->get_body(), true); }
    public function get_header(string $name): ?string { return $_SERVER['HTTP_' . strtoupper(strtr($name, '-', '_'))] ?? null; }
}

final class Item
{
    public function __construct(private int $product) {}
    public function get_product_id(): int { return $this->product; }
}

final class WC_Order
{
    private array $data;
    public function __construct(private int $id) { $this->data = json_decode(file_get_contents(getenv('ORDERS')), true)[$id]; }
    public function get_id(): int { return $this->id; }
    public function get_items(): array { return array_map(fn (int $product) => new Item($product), $this->data['products']); }
    public function get_meta(string $key): mixed { return $this->data['meta'][$key] ?? ''; }
    public function update_meta_data(string $key, string $value): void { $this->data['meta'][$key] = $value; }
    public function delete_meta_data(string $key): void { unset($this->data['meta'][$key]); }
    public function get_order_key(): string { return $this->data['key']; }
    public function get_status(): string { return $this->data['status']; }
    public function get_date_paid(): ?string { return $this->data['paid'] ?? null; }
    public function get_checkout_order_received_url(): string { return getenv('SHOP_URL') . "/checkout/order-received/{$this->id}/?key={$this->data['key']}"; }
    public function add_order_note(string $note): void { $this->data['notes'][] = $note; $this->save(); }
    public function save(): void
    {
        $all = json_decode(file_get_contents(getenv('ORDERS')), true);
        $all[$this->id] = $this->data;
        // Whole at any moment: the test reads it meanwhile.
        file_put_contents(getenv('ORDERS') . '.new', json_encode($all));
        rename(getenv('ORDERS') . '.new', getenv('ORDERS'));
    }
    public function update_status(string $status): void
    {
        $this->data['status'] = $status;
        $this->save();
        do_action("woocommerce_order_status_$status", $this->id);
    }
    public function payment_complete(): void
    {
        $this->data['paid'] = 'now';
        $this->save();
        $this->update_status(apply_filters('woocommerce_payment_complete_order_status', 'processing', $this->id, $this));
    }
}

function wc_get_order(int $id): WC_Order|false { return isset(json_decode(file_get_contents(getenv('ORDERS')), true)[$id]) ? new WC_Order($id) : false; }

require __DIR__ . '/vidimus-age-check.php';
do_action('rest_api_init');

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if ($route = $routes[$path] ?? null) {
    $response = $route['callback'](new WP_REST_Request());
    http_response_code($response->status);
    return;
}
// What happens in a shop: /ORDER/paid, /ORDER/thankyou, /ORDER/completed
[, $id, $event] = explode('/', $path);
match ($event) {
    'paid' => wc_get_order((int) $id)->payment_complete(),
    'thankyou' => do_action('woocommerce_thankyou', (int) $id),
    default => wc_get_order((int) $id)->update_status($event),
};
