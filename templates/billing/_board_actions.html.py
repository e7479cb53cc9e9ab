BBBB BBBB
 #

XXXXXXX XXXXXXXXXXX
        XXXXXXXXXXXXX
        XXXXXXXXXXXXXXXX
        XXXXXXXXXXX pgettext(u'message', u'Link copied') XX pgettext(u'button', u'Copy link') XXXXXXXXX
XXXXXXX XXXXXXXXXXX
        XXXXXXXXXXXXX
        XXXXXXXXXXXXXXXXXX
        XXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Arrange') XXXXXXXXX
