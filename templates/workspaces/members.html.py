BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #
 #

BBBBB BBBBBXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
   npgettext(u'number of things', u'%(n)s person', u'%(n)s people',count) 
    SSSSS SSSSSS
  
    PPPPP PPPPPP
  
  XXXXXXX XXXXXXX pgettext(u'page title', u'People') X XXXXXXXXXXX
    XXXXXXX XXXXXXXXXXXXXXX
      XXXXXXXX XXXXXXXXXXXXX
        XXXXXXXX XXXXXXXXXXXX pgettext(u'button', u'More') XXXXXXXXXX
        XXXX XXXXXXXXXXXX XXXXX
          BB BBBBBBBBB
            XX XXXXXXXXXXXXXXXXXXXXX pgettext(u'menu', u'Open invitations') XXXX
            XX XXXXXXXXXXXXXXXXXXXXXXX pgettext(u'menu', u'Import from a file') XXXX
            XXXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
               pgettext(u'menu', u'Add without an invitation') 
            XXXXXXXXX
          BBBBB
          XX XXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'menu', u'Service accounts') XXXX
          XX XXXXXXXXXXXXXXXX pgettext(u'menu', u'Check access') XXXX
        XXXXXX
      XXXXXXXXXX
      BB BBBBBBBBB
        XXXXXXXXX XXXXXXXXXXXXXXX
                  XXXXXXX pgettext(u'field', u'Invite people') X XX
      BBBBB
    XXXXXXXXX
  XXXXXXXXX
  XXXX XXXXXXXXXXXXXX
    BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
    BB BBBBBB
       gettext(u'%(e)s was added.') 
        SSSSS SSS SSSSSS
      
      XXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXX
         gettext(u'Send them this link to set a password. It is shown only once and works for three days.') 
        XXXXXXX XXXXXXXXXXXXXXXXXX XX
      XXXXXXXXX
    BBBBB
    BB BBBBB
       gettext(u'%(e)s already has an account and was invited.') 
        SSSSS SSSSSSS SSS SS SSSSSSS SSS SSS SSSSSSSS
      
      XXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXX
         gettext(u'They join when they accept. Send them this link; it is shown only once and works until %(d)s.') 
          SSSS SSSS SSSS SSSS SSSSSSS SSSS SSSS SSSS SSSSS SS SS SSSSS SSSS SSSS SSS SSSSS SSSSS SSSSSS
        
        XXXXXXX XXXXXXXXXXXXXXXXX XX
      XXXXXXXXX
    BBBBB
    XXXXXXXXXX XXXXXXXXXXXX XX
    XXXXXXXX XXXXXXXXXXXX XX
    BB BBBBBBBB
       gettext(u'Two-factor authentication') 
      XXXXXXXX XXXXXXXXXXXXXXX
        XXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXX
          BBBBBBBBBB
          BB BBBBBBBBBBBBBBBBBBBBBBBBBB
            XX XXXXXXXXXXXXXX
               gettext(u"Required for everyone. People without a second factor are asked to add one, and their tokens don't work here until they do.") 
                SSSSSSSS SSS SSSSSSSSS SSSSSS SSSSSSS S SSSSSS SSSSSS SSS SSSSS SS SSS SSSS SSS
                SSSSS SSSSSS SSSSS SSSS SSSS SSSSS SSSS SSS
              
            XXXX
            XXXXX
              XXXXXXX XXXXXXXXXXX
                      XXXXXXXXXXXXXX gettext(u'Stop requiring two-factor authentication?') XX
                 gettext(u'Stop requiring it') 
              XXXXXXXXX
            XXXXXX
          BBBB
            XX XXXXXXXXXXXXXX
               gettext(u"Optional today. If you require it, people without a second factor are asked to add one, and their tokens don't work here until they do. Jobs and service accounts continue.") 
                SSSSSSSS SSSSSS SS SSS SSSSSSS SSS SSSSSS SSSSSSS S SSSSSS SSSSSS SSS SSSSS SS SSS
                SSSS SSS SSSSS SSSSSS SSSSS SSSS SSSS SSSSS SSSS SSS SSSS SSS SSSSSSS SSSSSSSS SSSSSSSSS
              
            XXXX
            XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXX XXXXXXXXXX
            XXXXX
              XXXXXXX XXXXXXXXXXX
                      XXXXXXXXXXXXXX gettext(u'Require two-factor authentication for everyone?') XX
                 gettext(u'Require for everyone') 
              XXXXXXXXX
            XXXXXX
          BBBBB
        XXXXXXX
      XXXXXXXXXX
    BBBBB
  XXXXXX
  BB BBBBBBBBB
    BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
     pgettext(u'heading', u'Add a person without an invitation') 
    XXXXXXXXXXXXXX XXXXXXXXXXXXXXX
                   XXXXXXXXXXXXXX
                   XXXXXXXX pgettext(u'button', u'Add') XX
      XX XXXXXXXXXXXX XXXXXXX
         gettext(u'They become a member at once, and you get a link for them to set a password. People who already have an account are invited instead.') 
          SSSS SSSSSS S SSSSSS SS SSSSS SSS SSS SSS S SSSS SSS SSSS SS SSS S SSSSSSSSS SSSSSS SSS
          SSSSSSS SSSS SS SSSSSSS SSS SSSSSSS SSSSSSSS
        
      XXXX
      XXXXXXXX XXXXXXX pgettext(u'field', u'Email') XX
        XXXXXX XXXXXXXXXXXX XXXXXXXXXXXX XXXXXXXX XXXXXXXXXXXXXXXXXXX
      XXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'field', u'Name') XX
        XXXXXX XXXXXXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXX
      XXXXXXXXXX
      XXXX XXXXXXXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Role in the organization') XX
          XXXXXXX XXXXXXXXXXXX
            BBB B BB BBBBB
              XXXXXXX XXXXXXXX
                      BB BBBBBB BB BBBBBBBBXXXXXXXXBBBBBXFFFFFFFFFFXXXXXXXXX
            BBBBBB
          XXXXXXXXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Team') XX
          XXXXXXX XXXXXXXXXXXX
            XXXXXXX XXXXXXXXX pgettext(u'choice', u'No team') XXXXXXXXX
            BBB B BB BBBBB
              XXXXXXX XXXXXXXXXXXXXXXXXX
            BBBBBB
          XXXXXXXXX
        XXXXXXXXXX
      XXXXXX
    XXXXXXXXXXXXXXXX
  BBBBB
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBXXXXXXXXXXX
BBBBBBBB
