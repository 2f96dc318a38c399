"""The egress client: what it refuses, whatever the trick, and that an answer cannot hurt."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook.kit.egress import (
    AddressRefused,
    EgressClient,
    EgressError,
    EgressPolicy,
    EgressTimeout,
    HeaderInvalid,
    HostNotFound,
    RedirectRefused,
    ResponseTooLarge,
    ResponseUnreadable,
    UrlInvalid,
)
from tests.fakes.web import LOOPBACK, FakeResolver, Reply, Seen, egress_to_loopback, json_reply, local_server, zipped

PUBLIC = "93.184.216.34"


@pytest.fixture
async def shop() -> AsyncIterator[EgressClient]:
    """``shop.test`` and ``other.test`` are on this machine and allowed."""
    client = egress_to_loopback("shop.test", "other.test")
    yield client
    await client.aclose()


def strict(resolver: FakeResolver | None = None, allowed: str = "") -> EgressClient:
    return EgressClient(EgressPolicy.parse(allowed), resolver or FakeResolver())


class TestAddresses:
    @pytest.mark.parametrize(
        "host",
        [
            "127.0.0.1",
            "127.0.0.1.",
            "127.255.255.254",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "100.64.0.1",
            "100.100.100.200",
            "169.254.169.254",
            "168.63.129.16",
            "192.0.0.192",
            "198.18.0.1",
            "224.0.0.1",
            "239.255.255.250",
            "255.255.255.255",
            "[::]",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:a9fe:a9fe]",
            "[::ffff:0:127.0.0.1]",
            "[::127.0.0.1]",
            "[64:ff9b::127.0.0.1]",
            "[64:ff9b::a9fe:a9fe]",
            "[64:ff9b:1::8.8.8.8]",
            "[2002:7f00:1::]",
            "[2001:0:7f00:1::]",
            "[fc00::1]",
            "[fd00:ec2::254]",
            "[fe80::1]",
            "[fec0::1]",
            "[ff02::1]",
        ],
    )
    def test_not_public(self, host: str) -> None:
        with pytest.raises(AddressRefused):
            strict().parse_url(f"http://{host}/latest/meta-data")

    @pytest.mark.parametrize(
        "host",
        [
            "2130706433",
            "017700000001",
            "0x7f000001",
            "0x7f.0.0.1",
            "0177.0.0.1",
            "127.1",
            "127.0.1",
            "0",
            "0x",
            "1.2.3.4.5",
            "１２７.0.0.1",
            "127。0。0。1",
            "ⓛocalhost",
            "[fe80::1%25eth0]",
            "[::ffff:0x7f.1]",
        ],
    )
    def test_odd_notations(self, host: str) -> None:
        with pytest.raises((UrlInvalid, AddressRefused)):
            strict().parse_url(f"http://{host}/")

    @pytest.mark.parametrize(
        "url",
        [
            "",
            "shop.test",
            "//shop.test/",
            "ftp://shop.test/",
            "file:///etc/passwd",
            "gopher://shop.test/",
            "http://",
            "http:///x",
            "http://user:pass@shop.test/",
            "http://shop.test\\@127.0.0.1/",
            "http://shop.test:0/",
            "http://shop.test:70000/",
            "http://sh op.test/",
            "http://shop.test/\r\nHost: x",
            "http://shop.test/" + "x" * 5000,
        ],
    )
    def test_not_an_address_to_call(self, url: str) -> None:
        with pytest.raises(UrlInvalid):
            strict().parse_url(url)

    @pytest.mark.parametrize("url", ["http://8.8.8.8/", "https://[2606:4700::1111]:8443/x", "HTTPS://Shop.Test/?q=1"])
    def test_public(self, url: str) -> None:
        strict().parse_url(url)

    @given(st.text(max_size=60))
    def test_any_text_is_read_or_refused(self, text: str) -> None:
        client = strict()
        for url in (text, f"http://{text}/", f"http://shop.test{text}"):
            with suppress(UrlInvalid, AddressRefused):
                client.parse_url(url)

    async def test_names_are_judged_by_where_they_lead(self) -> None:
        client = strict(
            FakeResolver(
                public_test=[PUBLIC],
                inside_test=["10.0.0.7"],
                mixed_test=[PUBLIC, "127.0.0.1"],
                mapped_test=["::ffff:192.168.0.1"],
                empty_test=[],
            )
        )
        await client.check_url("https://public.test/")
        for name in ("inside", "mixed", "mapped"):
            with pytest.raises(AddressRefused) as caught:
                await client.check_url(f"https://{name}.test/")
            assert "10.0.0.7" not in str(caught.value)
        for name in ("empty", "unknown"):
            with pytest.raises(HostNotFound):
                await client.check_url(f"https://{name}.test/")

    async def test_a_resolver_that_hangs(self, shop: EgressClient) -> None:
        resolver = FakeResolver(shop_test=LOOPBACK)
        resolver.before = asyncio.Event().wait  # type: ignore[assignment]
        with pytest.raises(EgressTimeout):
            await strict(resolver, "shop.test").request("GET", "http://shop.test/", timeout_s=0.05)


class TestAllowList:
    async def test_a_name_opens_itself_and_its_port_alone(self) -> None:
        client = strict(FakeResolver(crm_test=LOOPBACK, other_test=LOOPBACK), "crm.test:8080, 10.9.0.0/16")
        await client.check_url("http://crm.test:8080/")
        await client.check_url("http://10.9.1.1/")
        for url in ("http://crm.test/", "http://other.test:8080/", "http://10.8.1.1/", "http://127.0.0.1:8080/"):
            with pytest.raises(AddressRefused):
                await client.check_url(url)

    async def test_a_name_never_leads_to_the_machine_s_credentials(self) -> None:
        client = strict(FakeResolver(crm_test=["169.254.169.254"], v6_test=["fd00:ec2::254"]), "crm.test,v6.test")
        for name in ("crm", "v6"):
            with pytest.raises(AddressRefused):
                await client.check_url(f"http://{name}.test/")

    @pytest.mark.parametrize("text", ["-x-", "10.0.0.0/40", "crm.test:port", "http://crm.test", "*", "1.2.3"])
    def test_what_cannot_be_read_is_named(self, text: str) -> None:
        with pytest.raises(ValueError, match="neither"):
            EgressPolicy.parse(f"crm.test,{text}")


class TestConnections:
    async def test_the_name_is_looked_up_once_and_stays_in_the_host_header(self) -> None:
        # Whoever looked the name up a second time would be led elsewhere.
        resolver = FakeResolver(shop_test=[LOOPBACK, ["10.0.0.1"]])
        async with local_server(Reply(body=b"hello")) as server:
            client = strict(resolver, "shop.test")
            answer = await client.request("GET", server.url("shop.test", "/a?b=c#d"))
            await client.aclose()
        assert (answer.status, answer.text) == (200, "hello")
        assert resolver.asked == ["shop.test"]
        assert server.seen[0].headers["host"] == f"shop.test:{server.port}"
        assert server.seen[0].target == "/a?b=c"

    async def test_dns_rebinding_between_check_and_call(self) -> None:
        resolver = FakeResolver(evil_test=[[PUBLIC], LOOPBACK])
        client = strict(resolver)
        async with local_server(Reply()) as server:
            await client.check_url(server.url("evil.test"))
            with pytest.raises(AddressRefused):
                await client.request("GET", server.url("evil.test"))
        assert server.connections == 0

    async def test_a_second_address_is_tried(self) -> None:
        async with local_server(Reply(body=b"here")) as server:
            client = strict(FakeResolver(shop_test=["::1", "127.0.0.1"]), "shop.test")
            assert (await client.request("GET", server.url("shop.test"))).text == "here"
            await client.aclose()

    async def test_nobody_listens(self, shop: EgressClient) -> None:
        async with local_server(Reply()) as server:
            pass
        with pytest.raises(EgressError) as caught:
            await shop.request("GET", server.url("shop.test"))
        assert (caught.value.code, caught.value.retryable) == ("egress_failed", True)

    async def test_no_cookies_are_kept(self, shop: EgressClient) -> None:
        async with local_server(Reply(headers={"set-cookie": "session=of-another-organization"})) as server:
            await shop.request("GET", server.url("shop.test"))
            await shop.request("GET", server.url("shop.test"))
        assert "cookie" not in server.seen[1].headers

    async def test_an_sdk_s_client_has_the_same_guard(self) -> None:
        async with local_server(Reply(body=b"x")) as server:
            allowed, refused = strict(FakeResolver(a_test=LOOPBACK), "a.test"), strict(FakeResolver(a_test=LOOPBACK))
            async with allowed.vendor_client(5) as client:
                assert (await client.get(server.url("a.test"))).content == b"x"
            async with refused.vendor_client(5) as client:
                with pytest.raises(AddressRefused):
                    await client.get(server.url("a.test"))
        assert server.connections == 1


def redirecting(location: str, status: int = 302) -> Reply:
    return Reply(status, headers={"location": location})


def answer_redirect(location: str, _: Seen) -> Reply:
    return redirecting(location)


class TestRedirects:
    async def test_followed_with_the_method_that_the_status_asks_for(self, shop: EgressClient) -> None:
        for status, method, body in ((302, "GET", b""), (303, "GET", b""), (307, "POST", b"{}"), (308, "POST", b"{}")):

            def answers(seen: Seen, status: int = status) -> Reply:
                return redirecting("/new", status) if seen.target == "/old" else Reply(body=b"done")

            async with local_server(answers) as server:
                answer = await shop.request("POST", server.url("shop.test", "/old"), content=b"{}")
            assert (answer.text, answer.url) == ("done", server.url("shop.test", "/new"))
            assert (server.seen[1].method, server.seen[1].body) == (method, body)

    async def test_to_where_nothing_may_be_called(self) -> None:
        for target in ("http://127.0.0.1:{port}/", "http://inside.test:{port}/", "http://[::ffff:127.0.0.1]:{port}/"):
            async with local_server(Reply()) as server:
                location = target.format(port=server.port)
                server.answers = partial(answer_redirect, location)
                client = strict(FakeResolver(shop_test=LOOPBACK, inside_test=LOOPBACK), "shop.test")
                with pytest.raises(AddressRefused):
                    await client.request("GET", server.url("shop.test"))
                await client.aclose()
            assert len(server.seen) == 1

    async def test_secrets_stay_with_the_origin_they_were_for(self, shop: EgressClient) -> None:
        headers = {"Authorization": "Bearer s", "X-Api-Key": "s", "Cookie": "s", "Content-Type": "application/json"}
        async with (
            local_server(Reply()) as second,
            local_server(redirecting(second.url("other.test"), 307)) as first,
        ):
            await shop.request("POST", first.url("shop.test"), headers=headers, content=b"{}")
        assert first.seen[0].headers["authorization"] == "Bearer s"
        assert "s" not in second.seen[0].headers.values()
        assert second.seen[0].headers["content-type"] == "application/json"

    @pytest.mark.parametrize("location", ["file:///etc/passwd", "http://u:p@shop.test/", "http://[", "ftp://shop.test"])
    async def test_to_what_is_no_address(self, shop: EgressClient, location: str) -> None:
        async with local_server(redirecting(location)) as server:
            with pytest.raises(RedirectRefused):
                await shop.request("GET", server.url("shop.test"))

    async def test_round_in_circles(self, shop: EgressClient) -> None:
        async with local_server(redirecting("/")) as server:
            with pytest.raises(RedirectRefused):
                await shop.request("GET", server.url("shop.test"))
            assert len(server.seen) == 4
            assert (await shop.request("GET", server.url("shop.test"), max_redirects=0)).status == 302


class TestAnswers:
    async def test_json(self, shop: EgressClient) -> None:
        async with local_server(json_reply({"a": 1})) as server:
            answer = await shop.request("GET", server.url("shop.test"), media_types={"application/json"})
            assert (answer.json(), answer.media_type) == ({"a": 1}, "application/json")
            server.answers = lambda _: Reply(body=b"[" * 200_000)
            with pytest.raises(ResponseUnreadable):
                (await shop.request("GET", server.url("shop.test"))).json()

    async def test_too_large_announced_or_not(self, shop: EgressClient) -> None:
        announced = Reply(body=b"x" * 2000)
        endless = Reply(raw=b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 2000)
        for reply in (announced, endless):
            async with local_server(reply) as server:
                with pytest.raises(ResponseTooLarge):
                    await shop.request("GET", server.url("shop.test"), max_bytes=1999)
                answer = await shop.request("GET", server.url("shop.test"), max_bytes=2000)
                assert len(answer.content) == 2000

    async def test_gzip_and_gzip_bombs(self, shop: EgressClient) -> None:
        async with local_server(zipped(b"hello" * 100)) as server:
            assert (await shop.request("GET", server.url("shop.test"))).text == "hello" * 100
            server.answers = lambda _: zipped(bytes(50_000_000))
            with pytest.raises(ResponseTooLarge):
                await shop.request("GET", server.url("shop.test"))

    async def test_what_follows_the_end_of_gzip_is_not_read(self, shop: EgressClient) -> None:
        head = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n"
        packed = zipped(b"hello").body
        never_complete = b"%x\r\n%b\r\n1\r\nx\r\n9" % (len(packed), packed)
        async with local_server(Reply(raw=head + never_complete)) as server:
            assert (await shop.request("GET", server.url("shop.test"))).text == "hello"

    @pytest.mark.parametrize(
        "reply",
        [
            Reply(body=b"x", headers={"content-encoding": "br"}),
            Reply(body=b"x", headers={"content-encoding": "gzip, gzip"}),
            Reply(body=b"no gzip", headers={"content-encoding": "gzip"}),
            Reply(body=zipped(b"cut" * 99).body[:-9], headers={"content-encoding": "gzip"}),
            Reply(body=b"\x7fELF", headers={"content-type": "application/octet-stream"}),
            Reply(raw=b"SSH-2.0-OpenSSH_9.2\r\n"),
            Reply(raw=b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nshort"),
            Reply(raw=b"HTTP/1.1 200 OK\r\nx: " + b"y" * 300_000),
        ],
    )
    async def test_unreadable(self, shop: EgressClient, reply: Reply) -> None:
        async with local_server(reply) as server:
            with pytest.raises(ResponseUnreadable):
                await shop.request("GET", server.url("shop.test"), media_types={"application/json", "text/*", ""})

    async def test_slow_to_begin_and_slow_to_end(self, shop: EgressClient) -> None:
        never = asyncio.Event()
        async with local_server(Reply(after=never)) as server:
            with pytest.raises(EgressTimeout) as caught:
                await shop.request("GET", server.url("shop.test"), timeout_s=0.05)
            assert caught.value.status == 504

            server.answers = lambda _: Reply(body=b"half", headers={"content-length": "8"})
            with pytest.raises(EgressTimeout):
                await shop.request("GET", server.url("shop.test"), timeout_s=0.05)
            never.set()


class TestHeaders:
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("X-A", "b\r\nX-Injected: 1"),
            ("X-A", "b\nc"),
            ("X-A", "\x00"),
            ("X-A", "x" * 9000),
            ("X A", "b"),
            ("X-A:", "b"),
            ("", "b"),
            ("Host", "inside.test"),
            ("content-length", "5"),
            ("Transfer-Encoding", "chunked"),
            ("Proxy-Authorization", "b"),
        ],
    )
    async def test_refused_before_anything_is_sent(self, shop: EgressClient, name: str, value: str) -> None:
        async with local_server(Reply()) as server:
            with pytest.raises(HeaderInvalid):
                await shop.request("GET", server.url("shop.test"), headers={name: value})
        assert not server.connections
