# An image with the program alone, which runs as any user and needs no network. From a clone:
#
#     docker build -t heatwalk .
#     docker run --rm heatwalk demo
#     docker run --rm -v "$PWD:/data" -u "$(id -u)" heatwalk classify edges.tsv --labels known.tsv -o out.tsv
#
# With a released program, from the folder of its unpacked archive:
#
#     docker build -t heatwalk -f /path/to/Dockerfile --target released .
FROM golang:1.26 AS build
WORKDIR /src
COPY . .
RUN scripts/program "linux/$(go env GOARCH)" /heatwalk

FROM scratch AS base
# The folder of the user's files has the temporary ones too, because the image has no /tmp.
WORKDIR /data
ENV TMPDIR=/data
ENTRYPOINT ["/heatwalk"]
CMD ["demo"]

FROM base AS released
COPY heatwalk LICENSE THIRD_PARTY_LICENSES /

FROM base
COPY --from=build /heatwalk /
