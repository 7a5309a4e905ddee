// A ROS 2 peer built on Fast DDS and Fast CDR alone: hears Odometry, Imu and PointCloud2, answers
// every odometry with an actuator command that carries its number, and prints what it counted.
//
//     peer DOMAIN SECONDS

#include <atomic>
#include <chrono>
#include <cstring>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include <fastcdr/Cdr.h>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/Topic.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>

#include "raw.hpp"

using eprosima::fastcdr::Cdr;
using eprosima::fastcdr::FastBuffer;

struct Header
{
    int32_t seconds = 0;
    uint32_t rest = 0;
    std::string frame;

    explicit Header(Cdr& cdr) { cdr >> seconds >> rest >> frame; }
    double time() const { return seconds + 1e-9 * rest; }
};

// Bytes of a message, read from behind their encapsulation.
struct Opened
{
    FastBuffer buffer;
    Cdr cdr;

    explicit Opened(Bytes& bytes)
        : buffer(bytes.data(), bytes.size()), cdr(buffer, Cdr::LITTLE_ENDIANNESS, Cdr::DDS_CDR)
    {
        cdr.read_encapsulation();
    }
};

class Hearer : public DataReaderListener
{
public:
    std::atomic<long> count{0};
    std::atomic<double> first{-1.0}, last{-1.0};
    std::function<void(Bytes&)> then = [](Bytes&) {};

    void on_data_available(DataReader* reader) override
    {
        Bytes bytes;
        SampleInfo info;
        while (reader->take_next_sample(&bytes, &info) == ReturnCode_t::RETCODE_OK)
            if (info.valid_data)
            {
                Opened message(bytes);
                last = Header(message.cdr).time();
                if (first < 0.0)
                    first = last.load();
                ++count;
                then(bytes);
            }
    }
};

int main(int, char** arguments)
{
    DomainParticipantQos qos;
    auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
    udp->interfaceWhiteList.push_back("127.0.0.1");
    udp->sendBufferSize = udp->receiveBufferSize = 8 << 20;
    qos.transport().use_builtin_transports = false;
    qos.transport().user_transports.push_back(udp);
    auto* participant =
        DomainParticipantFactory::get_instance()->create_participant(std::stoi(arguments[1]), qos);
    auto* subscriber = participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT);
    auto* publisher = participant->create_publisher(PUBLISHER_QOS_DEFAULT);

    auto topic = [&](const std::string& name, const std::string& type, uint32_t largest) {
        TypeSupport support(new Raw(type, largest));
        support.register_type(participant);
        return participant->create_topic(name, type, TOPIC_QOS_DEFAULT);
    };
    DataReaderQos reliable = DATAREADER_QOS_DEFAULT;
    reliable.reliability().kind = RELIABLE_RELIABILITY_QOS;
    reliable.history().kind = KEEP_ALL_HISTORY_QOS;
    reliable.endpoint().history_memory_policy = eprosima::fastrtps::rtps::DYNAMIC_RESERVE_MEMORY_MODE;
    DataReaderQos sensor = reliable;
    sensor.reliability().kind = BEST_EFFORT_RELIABILITY_QOS;

    DataWriterQos offered = DATAWRITER_QOS_DEFAULT;
    offered.reliability().kind = RELIABLE_RELIABILITY_QOS;
    offered.endpoint().history_memory_policy = eprosima::fastrtps::rtps::DYNAMIC_RESERVE_MEMORY_MODE;
    auto* orders = publisher->create_datawriter(
        topic("rt/otter/actuator_cmd", "interfaces::msg::dds_::Actuator_", 1024), offered);

    Hearer odometry, imu, cloud;
    std::atomic<long> sent{0}, points{0};
    std::atomic<double> surge{0.0}, gravity{0.0};
    odometry.then = [&](Bytes& bytes) {
        Opened message(bytes);
        Cdr& cdr = message.cdr;
        Header header(cdr);
        std::string child;
        double pose[7], twist[6], skipped[36];
        cdr >> child;
        cdr.deserializeArray(pose, 7).deserializeArray(skipped, 36).deserializeArray(twist, 6);
        surge = twist[0];
        Bytes order(1024);
        FastBuffer out(order.data(), order.size());
        Cdr writing(out, Cdr::LITTLE_ENDIANNESS, Cdr::DDS_CDR);
        writing.serialize_encapsulation();
        writing << int32_t(0) << uint32_t(0) << std::string("");
        writing << std::vector<std::string>{"th_1", "th_2"};
        writing << std::vector<double>{double(++sent), 300.0};
        order.resize(writing.getSerializedDataLength());
        orders->write(&order);
    };
    imu.then = [&](Bytes& bytes) {
        Opened message(bytes);
        Cdr& cdr = message.cdr;
        Header header(cdr);
        double all[4 + 9 + 3 + 9 + 3];
        cdr.deserializeArray(all, 28);
        gravity = all[27];
    };
    cloud.then = [&](Bytes& bytes) {
        Opened message(bytes);
        Cdr& cdr = message.cdr;
        Header header(cdr);
        uint32_t height, width;
        cdr >> height >> width;
        points = long(height) * width;
    };
    subscriber->create_datareader(
        topic("rt/otter/odometry", "nav_msgs::msg::dds_::Odometry_", 2048), reliable, &odometry);
    subscriber->create_datareader(
        topic("rt/otter/imu", "sensor_msgs::msg::dds_::Imu_", 2048), sensor, &imu);
    subscriber->create_datareader(
        topic("rt/otter/lidar/cloud", "sensor_msgs::msg::dds_::PointCloud2_", 16 << 20), reliable,
        &cloud);
    std::cout << "ready" << std::endl;

    const double until = std::stod(arguments[2]);
    for (int i = 0; i < 3000 && odometry.last < until; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    std::cout << "{\"odometry\": " << odometry.count << ", \"first\": " << odometry.first
              << ", \"last\": " << odometry.last << ", \"imu\": " << imu.count
              << ", \"imu_first\": " << imu.first << ", \"cloud\": " << cloud.count
              << ", \"cloud_first\": " << cloud.first << ", \"points\": " << points
              << ", \"sent\": " << sent << ", \"surge\": " << surge << ", \"gravity\": " << gravity
              << "}" << std::endl;
    participant->delete_contained_entities();
    DomainParticipantFactory::get_instance()->delete_participant(participant);
}
